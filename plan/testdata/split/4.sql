SET 'table.local-time-zone' = 'UTC';
SET 'table.optimizer.distinct-agg.split.enabled'='true';
SET 'table.exec.mini-batch.enabled'='true';
SET 'table.exec.mini-batch.allow-latency'='1 s';
SET 'table.exec.mini-batch.size'='4';
SET 'table.optimizer.incremental-agg-enabled'='false';
SET 'table.optimizer.agg-phase-strategy'='ONE_PHASE';
SELECT k, COUNT(DISTINCT v) AS d FROM t GROUP BY k;
