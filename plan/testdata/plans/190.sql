SET 'table.exec.mini-batch.enabled' = 'true';
SET 'table.exec.mini-batch.allow-latency' = '2 s';
SET 'table.exec.mini-batch.size' = '100';
SELECT SUM(c), MAX(c), MIN(c) FROM (SELECT cust, COUNT(*) AS c FROM orders GROUP BY cust);
