-- q0: pass through. What it costs to read and write bids.
CREATE TABLE q0 (
  auction BIGINT, bidder BIGINT, price BIGINT, `dateTime` TIMESTAMP(3), extra STRING
) WITH ('connector' = 'blackhole');

INSERT INTO q0
SELECT auction, bidder, price, `dateTime`, extra FROM bid;
