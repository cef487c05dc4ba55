-- 304 a key that is a part of the groups

CREATE TABLE t (id INT, k STRING, g STRING, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/t.json', 'format' = 'debezium-json');
CREATE TABLE s (g STRING, k STRING, n BIGINT, PRIMARY KEY (g) NOT ENFORCED) WITH ('connector' = 'print', 'print-identifier' = 's');
INSERT INTO s SELECT g, k, COUNT(*) FROM t GROUP BY g, k;
