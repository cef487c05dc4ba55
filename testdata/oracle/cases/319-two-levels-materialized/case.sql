-- 319 groups of groups into a sink by a part of the key

CREATE TABLE t (id INT, k STRING, g STRING, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/t.json', 'format' = 'debezium-json');
CREATE TABLE s (n BIGINT, k STRING, PRIMARY KEY (n) NOT ENFORCED) WITH ('connector' = 'print', 'print-identifier' = 's');
INSERT INTO s SELECT n, k FROM (SELECT k, COUNT(*) AS n FROM t WHERE k IS NOT NULL GROUP BY k);
