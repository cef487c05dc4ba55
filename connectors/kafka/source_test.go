package kafka

import (
	"testing"
)

func TestEarliest(t *testing.T) {
	r := newRig(t)
	tab := r.table(r.newTopic(3), []string{"a INT", "b STRING"}, "scan.startup.mode", "earliest-offset", "scan.bounded.mode", "latest-offset")
	r.writeRows(tab, "1|one", "2|two", `3|\N`)
	r.want(r.scan(tab, all(tab)).mustRead(-1), "+I 1|one", "+I 2|two", `+I 3|\N`)
}
