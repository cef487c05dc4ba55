-- q12: processing time windows. How many bids does a person make in 10 seconds of the clock?
CREATE VIEW bid_at AS SELECT *, PROCTIME() AS p_time FROM bid;

CREATE TABLE q12 (
  bidder BIGINT, bid_count BIGINT, starttime TIMESTAMP(3), endtime TIMESTAMP(3)
) WITH ('connector' = 'blackhole');

INSERT INTO q12
SELECT bidder, COUNT(*) AS bid_count, window_start, window_end
FROM TABLE(TUMBLE(TABLE bid_at, DESCRIPTOR(p_time), INTERVAL '10' SECOND))
GROUP BY bidder, window_start, window_end;
