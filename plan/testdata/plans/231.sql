SET 'table.optimizer.agg-phase-strategy' = 'ONE_PHASE';
SELECT cust, window_start, window_end, window_time, SUM(qty), COUNT(DISTINCT item), AVG(price) FROM TABLE(HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE)) GROUP BY cust, window_start, window_end, window_time;
