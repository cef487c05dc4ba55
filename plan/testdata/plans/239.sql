SET 'table.optimizer.agg-phase-strategy' = 'TWO_PHASE';
SET 'table.exec.mini-batch.allow-latency' = '2 s';
SET 'table.exec.mini-batch.size' = '100';
SELECT cust, MAX(c) FROM (SELECT cust, item, COUNT(*) AS c FROM orders GROUP BY cust, item) GROUP BY cust;
