-- 301 two partial inserts into one keyed sink

CREATE TABLE t (id INT, k STRING, g STRING, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/t.json', 'format' = 'debezium-json');
CREATE TABLE s (id INT, k STRING, n BIGINT, note STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'print', 'print-identifier' = 's');
EXECUTE STATEMENT SET BEGIN
INSERT INTO s (id, k) SELECT id, k FROM t;
END;
