-- 317 group windows in a zone, with their rowtime

SET 'table.local-time-zone' = 'Asia/Kolkata';
CREATE TABLE e (site STRING, v INT, at_ms BIGINT, ts AS TO_TIMESTAMP_LTZ(at_ms, 3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/e.json', 'format' = 'json');
CREATE TABLE s (st TIMESTAMP(3), rt TIMESTAMP_LTZ(3), n BIGINT) WITH ('connector' = 'print', 'print-identifier' = 's');
INSERT INTO s SELECT HOP_START(ts, INTERVAL '12' HOUR, INTERVAL '1' DAY), HOP_ROWTIME(ts, INTERVAL '12' HOUR, INTERVAL '1' DAY), COUNT(*) FROM e GROUP BY HOP(ts, INTERVAL '12' HOUR, INTERVAL '1' DAY);
