SET 'table.optimizer.agg-phase-strategy' = 'ONE_PHASE';
SET 'table.exec.mini-batch.enabled' = 'true';
SET 'table.exec.mini-batch.allow-latency' = '2 s';
SET 'table.exec.mini-batch.size' = '100';
SELECT cust, COUNT(*) FROM (SELECT o.cust, p.amount FROM orders o JOIN payments p ON o.cust = p.order_id) GROUP BY cust;
