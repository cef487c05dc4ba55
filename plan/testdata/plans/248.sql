INSERT INTO snk_upsert SELECT x.id, p.pay_id FROM (SELECT id, city FROM cust_cdc WHERE city IN (SELECT cat FROM prod_up)) AS x JOIN payments AS p ON x.id = p.order_id;
