-- 311 rows that become NULL where none may be, dropped

SET 'table.exec.sink.not-null-enforcer' = 'DROP';
CREATE TABLE t (id INT, k STRING, g STRING, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/t.json', 'format' = 'debezium-json');
CREATE TABLE s (id INT, k STRING, v INT NOT NULL, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'print', 'print-identifier' = 's');
INSERT INTO s SELECT id, k, v FROM t;
