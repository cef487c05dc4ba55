-- q4: average price for a category. Of the highest valid bids of its auctions.
CREATE TABLE q4 (
  id BIGINT, final BIGINT
) WITH ('connector' = 'blackhole');

INSERT INTO q4
SELECT Q.category, AVG(Q.final)
FROM (
  SELECT MAX(B.price) AS final, A.category
  FROM auction A, bid B
  WHERE A.id = B.auction AND B.`dateTime` BETWEEN A.`dateTime` AND A.expires
  GROUP BY A.id, A.category
) Q
GROUP BY Q.category;
