SET 'table.local-time-zone' = 'UTC';
SET 'table.optimizer.distinct-agg.split.enabled'='true';
SELECT COUNT(DISTINCT v) AS d, COUNT(DISTINCT k) FILTER (WHERE v > 2) FROM t;
