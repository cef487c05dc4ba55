-- 318 VALUES into a keyed sink, a column left out and a cast

CREATE TABLE s (id INT, d DECIMAL(6, 2), k STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'print', 'print-identifier' = 's');
INSERT INTO s (id, k) VALUES (1, 'a'), (2, 'b'), (1, 'c');
