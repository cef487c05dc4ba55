SET 'table.optimizer.agg-phase-strategy' = 'ONE_PHASE';
SELECT cust, window_start, window_end, COUNT(*) FROM TABLE(CUMULATE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE)) GROUP BY cust, window_start, window_end;
