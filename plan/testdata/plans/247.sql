SELECT x.id, p.title FROM (SELECT id, city FROM cust_cdc WHERE city IN (SELECT cat FROM prod_up)) AS x JOIN prod_up AS p ON x.city = p.sku;
