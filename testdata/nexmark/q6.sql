-- q6: average selling price by seller, of the last 10 auctions with a valid bid.
-- The original is an OVER window on winning bids, which change: no Flink runs that. So the ten are chosen by a top-N.
CREATE TABLE q6 (
  seller BIGINT, price BIGINT
) WITH ('connector' = 'blackhole');

INSERT INTO q6
SELECT seller, AVG(final)
FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY seller ORDER BY `dateTime` DESC, id DESC) AS last
  FROM (
    SELECT id, seller, price AS final, `dateTime`
    FROM (
      SELECT A.id, A.seller, B.price, B.`dateTime`,
        ROW_NUMBER() OVER (PARTITION BY A.id, A.seller ORDER BY B.price DESC, B.`dateTime`) AS best
      FROM auction AS A, bid AS B
      WHERE A.id = B.auction AND B.`dateTime` BETWEEN A.`dateTime` AND A.expires
    )
    WHERE best <= 1
  )
)
WHERE last <= 10
GROUP BY seller;
