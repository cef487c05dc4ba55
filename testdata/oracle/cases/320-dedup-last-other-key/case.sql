-- 320 last row of each site into a sink by another column

CREATE TABLE e (site STRING, v INT, at_ms BIGINT, ts AS TO_TIMESTAMP_LTZ(at_ms, 3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/e.json', 'format' = 'json');
CREATE TABLE s (v INT, site STRING, PRIMARY KEY (v) NOT ENFORCED) WITH ('connector' = 'print', 'print-identifier' = 's');
INSERT INTO s SELECT MOD(v, 3), site FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY site ORDER BY ts DESC) AS rn FROM e) WHERE rn = 1;
