SET 'table.optimizer.agg-phase-strategy' = 'ONE_PHASE';
SELECT window_start, window_end, SUM(s) FROM (SELECT cust, window_start, window_end, COUNT(*) AS s FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY cust, window_start, window_end) GROUP BY window_start, window_end;
