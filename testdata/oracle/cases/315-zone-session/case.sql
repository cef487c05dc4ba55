-- 315 sessions in a zone

SET 'table.local-time-zone' = 'Asia/Kolkata';
CREATE TABLE e (site STRING, v INT, at_ms BIGINT, ts AS TO_TIMESTAMP_LTZ(at_ms, 3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/e.json', 'format' = 'json');
CREATE TABLE s (site STRING, st TIMESTAMP(3), en TIMESTAMP(3), n BIGINT) WITH ('connector' = 'print', 'print-identifier' = 's');
INSERT INTO s SELECT site, window_start, window_end, COUNT(*) FROM TABLE(SESSION(TABLE e PARTITION BY site, DESCRIPTOR(ts), INTERVAL '12' HOUR)) GROUP BY site, window_start, window_end;
