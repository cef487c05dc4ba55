SET 'table.exec.mini-batch.enabled' = 'true';
SET 'table.exec.mini-batch.allow-latency' = '2 s';
SET 'table.exec.mini-batch.size' = '100';
SET 'table.optimizer.distinct-agg.split.enabled' = 'true';
SELECT cust, COUNT(DISTINCT item) FILTER (WHERE qty > 1), COUNT(DISTINCT qty) FROM (SELECT DISTINCT cust, item, qty FROM orders) GROUP BY cust;
