SET 'table.exec.mini-batch.enabled' = 'true';
SET 'table.exec.mini-batch.allow-latency' = '2 s';
SET 'table.exec.mini-batch.size' = '100';
SELECT window_start, window_end, SUM(s) FROM (SELECT cust, window_start, window_end, COUNT(*) AS s FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY cust, window_start, window_end) GROUP BY window_start, window_end;
