-- 312 grouping sets over updates into a sink

CREATE TABLE t (id INT, k STRING, g STRING, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/t.json', 'format' = 'debezium-json');
CREATE TABLE s (k STRING, g STRING, gid BIGINT, n BIGINT, t INT) WITH ('connector' = 'print', 'print-identifier' = 's');
INSERT INTO s SELECT k, g, GROUPING_ID(k, g), COUNT(*), SUM(v) FROM t GROUP BY GROUPING SETS ((k, g), (k), ());
