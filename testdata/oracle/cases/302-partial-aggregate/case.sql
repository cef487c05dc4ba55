-- 302 columns of a keyed sink that a query over groups leaves out

CREATE TABLE t (id INT, k STRING, g STRING, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/t.json', 'format' = 'debezium-json');
CREATE TABLE s (note STRING, k STRING, n BIGINT, top INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'print', 'print-identifier' = 's');
INSERT INTO s (k, top) SELECT k, MAX(v) FROM t WHERE k IS NOT NULL GROUP BY k;
