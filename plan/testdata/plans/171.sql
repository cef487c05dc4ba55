SET 'table.exec.mini-batch.enabled' = 'true';
SET 'table.exec.mini-batch.allow-latency' = '2 s';
SET 'table.exec.mini-batch.size' = '100';
SELECT cust, COUNT(*), COUNT(qty), SUM(qty), AVG(qty), MIN(qty), MAX(price), SUM(price), AVG(price) FROM orders GROUP BY cust;
