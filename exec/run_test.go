package exec

import (
	"fmt"
	"slices"
	"sort"
	"testing"

	"runnel/plan"
)

func kvs(n, keys int) []kv {
	rows := make([]kv, n)
	for i := range rows {
		rows[i] = kv{k: int64(i % keys), v: int64(i), ts: int64(i)}
	}
	return rows
}

func wantCounts(n, keys int) []string {
	var want []string
	for i := range n {
		want = append(want, fmt.Sprintf("+I %d %d", i%keys, i/keys+1))
	}
	sort.Strings(want)
	return want
}

// TestRunToEnd runs source, chain, exchange and sink at several widths, with splits fewer and more than subtasks.
func TestRunToEnd(t *testing.T) {
	for _, par := range []int{1, 2, 4} {
		for _, splits := range []int{1, 3} {
			for _, twoPhase := range []bool{false, true} {
				t.Run(fmt.Sprintf("p%d/splits%d/twoPhase=%t", par, splits, twoPhase), func(t *testing.T) {
					c := testCluster(t, Options{})
					rows := kvs(5000, 7)
					src := newMemSource(true)
					for i := range splits {
						src.split(fmt.Sprintf("t-%d", i), rows[len(rows)*i/splits:len(rows)*(i+1)/splits]...)
					}
					sink := newMemSink(twoPhase)
					var k graphKit
					k.sink(k.count(k.exchange(k.scan("t", src, nil), plan.HashKeys, 0), "a"), "out", sink)
					j := submit(t, c, k.graph(), JobConfig{Parallelism: par})
					wait(t, j)
					if got := sink.sorted(); !slices.Equal(got, wantCounts(5000, 7)) {
						t.Errorf("got %d rows, want %d", len(got), 5000)
					}
					if j.State() != JobFinished {
						t.Errorf("state %s", j.State())
					}
				})
			}
		}
	}
}

func TestSelect(t *testing.T) {
	c := testCluster(t, Options{})
	src := newMemSource(true).split("a", kvs(10000, 10)...)
	var k graphKit
	k.collect(k.scan("t", src, nil))
	j := submit(t, c, k.graph(), JobConfig{Parallelism: 2})
	rows, err := readAll(t, j.Result())
	if err != nil || len(rows) != 10000 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	wait(t, j)
}
