SET 'table.local-time-zone' = 'UTC';
SET 'table.optimizer.distinct-agg.split.enabled'='true';
SELECT k, COUNT(DISTINCT v) AS d, COUNT(DISTINCT k) AS d2 FROM t GROUP BY k;
