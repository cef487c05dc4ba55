SELECT x.id, x.sku, c.name FROM (SELECT a.id, p.sku FROM cust_cdc AS a JOIN prod_up AS p ON a.city = p.cat) AS x LEFT JOIN cust_cdc AS c ON x.id = c.id;
