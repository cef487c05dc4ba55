-- 309 ranked groups into a sink keyed by the rank

CREATE TABLE t (id INT, k STRING, g STRING, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/t.json', 'format' = 'debezium-json');
CREATE TABLE s (rn BIGINT, k STRING, n BIGINT, PRIMARY KEY (rn) NOT ENFORCED) WITH ('connector' = 'print', 'print-identifier' = 's');
INSERT INTO s SELECT rn, k, n FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY n DESC, k) AS rn FROM (SELECT k, COUNT(*) AS n FROM t GROUP BY k)) WHERE rn <= 2;
