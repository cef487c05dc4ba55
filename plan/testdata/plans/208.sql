SET 'table.exec.mini-batch.enabled' = 'true';
SET 'table.exec.mini-batch.allow-latency' = '2 s';
SET 'table.exec.mini-batch.size' = '100';
SELECT city, JSON_OBJECTAGG(name VALUE id) FROM cust_cdc GROUP BY city;
