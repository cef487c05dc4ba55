-- q3: local item suggestion. Who sells in three states in category 10?
CREATE TABLE q3 (
  name STRING, city STRING, state STRING, id BIGINT
) WITH ('connector' = 'blackhole');

INSERT INTO q3
SELECT P.name, P.city, P.state, A.id
FROM auction AS A INNER JOIN person AS P ON A.seller = P.id
WHERE A.category = 10 AND (P.state = 'OR' OR P.state = 'ID' OR P.state = 'CA');
