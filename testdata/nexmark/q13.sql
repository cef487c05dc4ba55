-- q13: bounded side input. Bids with a value looked up in a file.
CREATE TABLE side_input (
  key BIGINT, `value` STRING
) WITH ('connector' = 'filesystem', 'path' = 'file:///tmp/nexmark-side-input', 'format' = 'csv');

CREATE TABLE q13 (
  auction BIGINT, bidder BIGINT, price BIGINT, `dateTime` TIMESTAMP(3), `value` STRING
) WITH ('connector' = 'blackhole');

INSERT INTO q13
SELECT B.auction, B.bidder, B.price, B.`dateTime`, S.`value`
FROM (SELECT *, PROCTIME() AS p_time FROM bid) B
JOIN side_input FOR SYSTEM_TIME AS OF B.p_time AS S ON MOD(B.auction, 10000) = S.key;
