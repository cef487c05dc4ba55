SET 'table.exec.mini-batch.enabled' = 'true';
SET 'table.exec.mini-batch.allow-latency' = '2 s';
SET 'table.exec.mini-batch.size' = '100';
SELECT cust, window_start, window_end, COUNT(*) FROM TABLE(SESSION(TABLE orders PARTITION BY cust, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY cust, window_start, window_end;
