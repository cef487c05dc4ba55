SELECT window_start, window_end, cur, COUNT(*) FROM TABLE(HOP(TABLE rates_up, DESCRIPTOR(rts), INTERVAL '1' MINUTE, INTERVAL '3' MINUTE)) GROUP BY cur, window_start, window_end;
