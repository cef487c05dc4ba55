package plan

import (
	"strings"
	"testing"
)

// Mini-batches end by ticks from behind the sources. Group windows of GROUP BY have no use for them, a filter has one as in
// Flink, and what works by event time wants watermarks.
func TestMiniBatchAssigners(t *testing.T) {
	s := newSession(t)
	s.must("CREATE TABLE k (id INT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'b', 'format' = 'json');" +
		"SET 'table.exec.mini-batch.enabled' = 'true'; SET 'table.exec.mini-batch.allow-latency' = '2 s'; SET 'table.exec.mini-batch.size' = '100'")
	for query, want := range map[string]string{
		"SELECT id, COUNT(*) FROM k GROUP BY id, TUMBLE(ts, INTERVAL '1' SECOND)": "",
		"SELECT * FROM k WHERE v > 1":            "ProcTime",
		"SELECT id, COUNT(*) FROM k GROUP BY id": "ProcTime",
		"SELECT id, COUNT(*) FROM TABLE(TUMBLE(TABLE k, DESCRIPTOR(ts), INTERVAL '1' SECOND)) GROUP BY id, window_start, window_end": "RowTime",
		"SELECT id, n, COUNT(*) FROM (SELECT id, COUNT(*) AS n FROM k GROUP BY id, TUMBLE(ts, INTERVAL '1' SECOND)) GROUP BY id, n":  "",
	} {
		text := withModes(s.must(query))
		_, mode, ok := strings.Cut(text, "mode=[")
		mode, _, _ = strings.Cut(mode, "]")
		if ok != (want != "") || mode != want && ok {
			t.Errorf("%s: mode %q, want %q\n%s", query, mode, want, text)
		}
	}
}
