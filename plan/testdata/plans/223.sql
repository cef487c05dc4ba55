SELECT window_start, window_end, user_id, COUNT(*) FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(cts), INTERVAL '1' DAY)) GROUP BY user_id, window_start, window_end;
