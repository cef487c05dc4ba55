SELECT cur, window_start, window_end, COUNT(*), MAX(rate) FROM TABLE(TUMBLE(TABLE rates, DESCRIPTOR(rts), INTERVAL '1' MINUTE)) GROUP BY cur, window_start, window_end;
