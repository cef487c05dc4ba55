SET 'execution.runtime-mode' = 'batch';
SET 'table.local-time-zone' = 'UTC';
SET 'parallelism.default' = '1';
CREATE TABLE o (id INT, k STRING, v INT, d DECIMAL(8, 2), f DOUBLE, ts TIMESTAMP(3), dt DATE, w DECIMAL(20, 2), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH ('connector' = 'filesystem', 'path' = 'testdata/batch/o.csv', 'format' = 'csv', 'csv.null-literal' = 'NULL');
CREATE TABLE p (k STRING, n STRING, w INT) WITH ('connector' = 'filesystem', 'path' = 'testdata/batch/p.csv', 'format' = 'csv', 'csv.null-literal' = 'NULL');
CREATE TABLE q (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = 'testdata/batch/q.csv', 'format' = 'csv', 'csv.null-literal' = 'NULL');
CREATE TABLE u (id INT, s ARRAY<STRING>, i ARRAY<INT>) WITH ('connector' = 'filesystem', 'path' = 'testdata/batch/u.csv', 'format' = 'csv', 'csv.null-literal' = 'NULL');
