SET 'table.exec.mini-batch.enabled' = 'true';
SET 'table.exec.mini-batch.allow-latency' = '2 s';
SET 'table.exec.mini-batch.size' = '100';
SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY cust ORDER BY c DESC) rn FROM (SELECT cust, item, COUNT(*) c FROM orders GROUP BY cust, item)) WHERE rn <= 3;
