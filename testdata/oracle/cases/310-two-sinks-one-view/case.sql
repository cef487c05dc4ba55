-- 310 two sinks of different keys over one view

CREATE TABLE t (id INT, k STRING, g STRING, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/t.json', 'format' = 'debezium-json');
CREATE TABLE a (k STRING, n BIGINT, t INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'print', 'print-identifier' = 'a');
CREATE TABLE b (n BIGINT, ks BIGINT, PRIMARY KEY (n) NOT ENFORCED) WITH ('connector' = 'print', 'print-identifier' = 'b');
CREATE VIEW w AS SELECT k, COUNT(*) AS n, SUM(v) AS t FROM t WHERE k IS NOT NULL GROUP BY k;
EXECUTE STATEMENT SET BEGIN
INSERT INTO a SELECT k, n, t FROM w;
INSERT INTO b SELECT n, COUNT(*) FROM w GROUP BY n;
END;
