SET 'table.optimizer.agg-phase-strategy' = 'ONE_PHASE';
SET 'table.exec.mini-batch.enabled' = 'true';
SET 'table.exec.mini-batch.allow-latency' = '2 s';
SET 'table.exec.mini-batch.size' = '100';
SELECT cust, COUNT(*) FROM (SELECT cust, item, MAX(qty) AS q FROM orders GROUP BY cust, item) GROUP BY cust;
