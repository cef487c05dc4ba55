SELECT c.id, x.n FROM cust_cdc AS c JOIN (SELECT a.id, b.name AS n FROM cust_cdc AS a RIGHT JOIN cust_cdc AS b ON a.city = b.name) AS x ON c.id = x.id;
