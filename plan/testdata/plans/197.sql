SET 'table.exec.mini-batch.enabled' = 'true';
SET 'table.exec.mini-batch.allow-latency' = '2 s';
SET 'table.exec.mini-batch.size' = '100';
SET 'table.optimizer.distinct-agg.split.enabled' = 'true';
SELECT cust, COUNT(DISTINCT item), SUM(DISTINCT qty), COUNT(DISTINCT item) FILTER (WHERE qty > 1), COUNT(*) FILTER (WHERE qty > 2), SUM(qty) FILTER (WHERE qty > 1) FROM orders GROUP BY cust;
