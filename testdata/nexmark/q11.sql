-- q11: user sessions. How many bids did a person make in each session?
CREATE TABLE q11 (
  bidder BIGINT, bid_count BIGINT, starttime TIMESTAMP(3), endtime TIMESTAMP(3)
) WITH ('connector' = 'blackhole');

INSERT INTO q11
SELECT bidder, COUNT(*) AS bid_count, SESSION_START(`dateTime`, INTERVAL '10' SECOND), SESSION_END(`dateTime`, INTERVAL '10' SECOND)
FROM bid
GROUP BY bidder, SESSION(`dateTime`, INTERVAL '10' SECOND);
