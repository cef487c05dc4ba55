-- 306 a computed key

CREATE TABLE t (id INT, k STRING, g STRING, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/t.json', 'format' = 'debezium-json');
CREATE TABLE s (c STRING, id INT, v INT, PRIMARY KEY (c) NOT ENFORCED) WITH ('connector' = 'print', 'print-identifier' = 's');
INSERT INTO s SELECT CASE WHEN v > 5 THEN 'big' WHEN v IS NULL THEN 'none' ELSE 'small' END, id, v FROM t;
