-- 314 cumulating windows in a zone, aggregated in one phase

SET 'table.local-time-zone' = 'America/New_York';
SET 'table.optimizer.agg-phase-strategy' = 'ONE_PHASE';
CREATE TABLE e (site STRING, v INT, at_ms BIGINT, ts AS TO_TIMESTAMP_LTZ(at_ms, 3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/e.json', 'format' = 'json');
CREATE TABLE s (st TIMESTAMP(3), en TIMESTAMP(3), n BIGINT, t INT) WITH ('connector' = 'print', 'print-identifier' = 's');
INSERT INTO s SELECT window_start, window_end, COUNT(*), SUM(v) FROM TABLE(CUMULATE(TABLE e, DESCRIPTOR(ts), INTERVAL '8' HOUR, INTERVAL '1' DAY)) GROUP BY window_start, window_end;
