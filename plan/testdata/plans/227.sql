SELECT window_start, window_end, COUNT(*) FROM (SELECT * FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))) GROUP BY window_start, window_end HAVING COUNT(*) > 2;
