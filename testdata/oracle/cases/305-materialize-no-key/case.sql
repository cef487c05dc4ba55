-- 305 rows without a key into a keyed sink

CREATE TABLE t (id INT, k STRING, g STRING, v INT) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/t.json', 'format' = 'debezium-json');
CREATE TABLE s (k STRING, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'print', 'print-identifier' = 's');
INSERT INTO s SELECT COALESCE(k, '-'), v FROM t;
