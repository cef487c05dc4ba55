SET 'table.exec.mini-batch.enabled' = 'true';
SET 'table.exec.mini-batch.allow-latency' = '2 s';
SET 'table.exec.mini-batch.size' = '100';
SELECT cust, window_start, window_end, LISTAGG(item), COLLECT(item) FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '10' SECOND)) GROUP BY cust, window_start, window_end;
