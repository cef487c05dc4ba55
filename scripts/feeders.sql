-- Two Kafka topics and the generators that fill them, as one job.

CREATE TABLE orders (
  order_id INT,
  user_id  INT,
  amount   INT,
  ts       TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector' = 'kafka',
  'topic' = 'orders',
  'properties.bootstrap.servers' = 'kafka:9092',
  'scan.startup.mode' = 'earliest-offset',
  'format' = 'json'
);

CREATE TABLE payments (
  order_id INT,
  `method` STRING,
  ts       TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector' = 'kafka',
  'topic' = 'payments',
  'properties.bootstrap.servers' = 'kafka:9092',
  'scan.startup.mode' = 'earliest-offset',
  'format' = 'json'
);

CREATE TABLE orders_gen (
  order_id INT,
  user_id  INT,
  amount   INT,
  ts AS LOCALTIMESTAMP
) WITH (
  'connector' = 'datagen',
  'rows-per-second' = '200',
  'fields.order_id.kind' = 'sequence',
  'fields.order_id.start' = '1',
  'fields.order_id.end' = '1000000',
  'fields.user_id.min' = '1',
  'fields.user_id.max' = '100',
  'fields.amount.min' = '1',
  'fields.amount.max' = '1000'
);

CREATE TABLE payments_gen (
  order_id INT,
  pick     INT,
  ts AS LOCALTIMESTAMP
) WITH (
  'connector' = 'datagen',
  'rows-per-second' = '200',
  'fields.order_id.kind' = 'sequence',
  'fields.order_id.start' = '1',
  'fields.order_id.end' = '1000000',
  'fields.pick.min' = '0',
  'fields.pick.max' = '2'
);

EXECUTE STATEMENT SET
BEGIN
  INSERT INTO orders SELECT order_id, user_id, amount, ts FROM orders_gen;
  INSERT INTO payments
    SELECT order_id, CASE pick WHEN 0 THEN 'card' WHEN 1 THEN 'cash' ELSE 'transfer' END, ts FROM payments_gen;
END;
