SET 'table.exec.mini-batch.enabled' = 'true';
SET 'table.exec.mini-batch.allow-latency' = '2 s';
SET 'table.exec.mini-batch.size' = '100';
SET 'table.optimizer.distinct-agg.split.enabled' = 'true';
SELECT city, COUNT(DISTINCT name), SUM(id) FROM cust_cdc GROUP BY city;
