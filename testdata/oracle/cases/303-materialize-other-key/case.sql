-- 303 rows by another key than their own, which moves between keys

CREATE TABLE t (id INT, k STRING, g STRING, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/t.json', 'format' = 'debezium-json');
CREATE TABLE s (k STRING, id INT, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'print', 'print-identifier' = 's');
INSERT INTO s SELECT k, id, v FROM t WHERE k IS NOT NULL;
