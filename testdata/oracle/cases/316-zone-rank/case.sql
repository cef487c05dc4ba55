-- 316 the best of each local day

SET 'table.local-time-zone' = 'Asia/Shanghai';
CREATE TABLE e (site STRING, v INT, at_ms BIGINT, ts AS TO_TIMESTAMP_LTZ(at_ms, 3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/e.json', 'format' = 'json');
CREATE TABLE s (st TIMESTAMP(3), site STRING, v INT, at_time TIMESTAMP(3)) WITH ('connector' = 'print', 'print-identifier' = 's');
INSERT INTO s SELECT window_start, site, v, CAST(ts AS TIMESTAMP(3)) FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY v DESC) AS rn FROM TABLE(TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '1' DAY))) WHERE rn <= 1;
