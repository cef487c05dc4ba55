package exec

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"runnel/connectors"
	"runnel/plan"
)

// draw writes a job graph: one line per vertex with its width and inputs, then the tasks.
func draw(j *jobGraph) string {
	var b strings.Builder
	for _, v := range j.vertices {
		fmt.Fprintf(&b, "%s x%d", v.name, v.parallelism)
		for _, in := range v.details(nil, time.Time{}).Inputs {
			for _, u := range j.vertices {
				if u.id == in.Vertex {
					fmt.Fprintf(&b, " <%s %s", in.Ship, strings.SplitN(u.name, " ->", 2)[0])
				}
			}
		}
		b.WriteString("\n")
	}
	for _, t := range j.tasks {
		fmt.Fprintf(&b, "task %s\n", t.name())
	}
	return b.String()
}

func TestJobGraph(t *testing.T) {
	src, sink := newMemSource(true), newMemSink(false)
	for _, c := range []struct {
		name  string
		cfg   JobConfig
		build func(k *graphKit)
		want  string
	}{
		{"one chain", JobConfig{Parallelism: 2}, func(k *graphKit) {
			k.sink(k.probe(k.scan("t", src, nil)), "out", sink)
		}, `
Source: t[1] -> Calc[2] -> out[3]: Writer x2
task Source: t[1] -> Calc[2] -> out[3]: Writer`},
		{"no chaining", JobConfig{Parallelism: 2, NoChaining: true}, func(k *graphKit) {
			k.sink(k.probe(k.scan("t", src, nil)), "out", sink)
		}, `
Source: t[1] x2
Calc[2] x2 <FORWARD Source: t[1]
out[3]: Writer x2 <FORWARD Calc[2]
task Source: t[1]
task Calc[2]
task out[3]: Writer`},
		{"exchange", JobConfig{Parallelism: 2}, func(k *graphKit) {
			k.sink(k.count(k.exchange(k.scan("t", src, nil), plan.HashKeys, 0), "a"), "out", sink)
		}, `
Source: t[1] x2
GroupAggregate[3] -> out[4]: Writer x2 <HASH Source: t[1]
task Source: t[1]
task GroupAggregate[3] -> out[4]: Writer`},
		{"exchange elided at width 1: one task, the same vertices", JobConfig{Parallelism: 1}, func(k *graphKit) {
			k.sink(k.count(k.exchange(k.scan("t", src, nil), plan.HashKeys, 0), "a"), "out", sink)
		}, `
Source: t[1] x1
GroupAggregate[3] -> out[4]: Writer x1 <HASH Source: t[1]
task Source: t[1] => GroupAggregate[3] -> out[4]: Writer`},
		{"singleton behind a wide source", JobConfig{Parallelism: 4}, func(k *graphKit) {
			k.sink(k.count(k.exchange(k.scan("t", src, nil), plan.Singleton), "a"), "out", sink)
		}, `
Source: t[1] x4
GroupAggregate[3] -> out[4]: Writer x1 <GLOBAL Source: t[1]
task Source: t[1]
task GroupAggregate[3] -> out[4]: Writer`},
		{"union is dissolved", JobConfig{Parallelism: 2}, func(k *graphKit) {
			a, b := k.scan("a", src, nil), k.scan("b", src, nil)
			u := k.add(&plan.Union{Info: k.info("Union", "", kvFields, a, b)})
			k.sink(k.count(k.exchange(u, plan.HashKeys, 0), "x"), "out", sink)
		}, `
Source: a[1] x2
Source: b[2] x2
GroupAggregate[5] -> out[6]: Writer x2 <HASH Source: a[1] <HASH Source: b[2]
task Source: a[1]
task Source: b[2]
task GroupAggregate[5] -> out[6]: Writer`},
		{"a window aggregation in two phases", JobConfig{Parallelism: 2}, func(k *graphKit) {
			k.sink(k.windows(k.scan("t", src, nil), plan.HashKeys), "out", sink)
		}, `
Source: t[1] -> LocalWindowAggregate[2] x2
GlobalWindowAggregate[4] -> out[5]: Writer x2 <HASH Source: t[1]
task Source: t[1] -> LocalWindowAggregate[2]
task GlobalWindowAggregate[4] -> out[5]: Writer`},
		{"without keys", JobConfig{Parallelism: 2}, func(k *graphKit) {
			k.sink(k.windows(k.scan("t", src, nil), plan.Singleton), "out", sink)
		}, `
Source: t[1] -> LocalWindowAggregate[2] x2
GlobalWindowAggregate[4] -> out[5]: Writer x1 <GLOBAL Source: t[1]
task Source: t[1] -> LocalWindowAggregate[2]
task GlobalWindowAggregate[4] -> out[5]: Writer`},
		{"where one task has all rows, the local phase is left out", JobConfig{Parallelism: 1}, func(k *graphKit) {
			a, b := k.scan("a", src, nil), k.scan("b", src, nil)
			k.sink(k.windows(k.add(&plan.Union{Info: k.info("Union", "", kvFields, a, b)}), plan.HashKeys), "out", sink)
		}, `
Source: a[1] x1
Source: b[2] x1
GlobalWindowAggregate[6] -> out[7]: Writer x1 <GLOBAL Source: a[1] <GLOBAL Source: b[2]
task Source: a[1]
task Source: b[2]
task GlobalWindowAggregate[6] -> out[7]: Writer`},
		{"two sinks on one scan", JobConfig{Parallelism: 2}, func(k *graphKit) {
			s := k.scan("t", src, nil)
			k.sink(k.probe(s), "a", sink)
			k.sink(k.probe(s), "b", sink)
		}, `
Source: t[1] -> Calc[2] -> a[3]: Writer -> Calc[4] -> b[5]: Writer x2
task Source: t[1] -> Calc[2] -> a[3]: Writer -> Calc[4] -> b[5]: Writer`},
		{"two inputs from two sources have a gate", JobConfig{Parallelism: 1}, func(k *graphKit) {
			a, b := k.scan("a", src, nil), k.scan("b", src, nil)
			j := k.add(&plan.IntervalJoin{Info: k.info("IntervalJoin", "join", kvFields, k.exchange(a, plan.HashKeys, 0), k.exchange(b, plan.HashKeys, 0))})
			k.sink(j, "out", sink)
		}, `
Source: a[1] x1
Source: b[2] x1
IntervalJoin[5] -> out[6]: Writer x1 <HASH Source: a[1] <HASH Source: b[2]
task Source: a[1]
task Source: b[2]
task IntervalJoin[5] -> out[6]: Writer`},
		{"a self-join of one scan at width 1 is one task", JobConfig{Parallelism: 1}, func(k *graphKit) {
			a := k.scan("a", src, nil)
			j := k.add(&plan.IntervalJoin{Info: k.info("IntervalJoin", "join", kvFields, k.exchange(a, plan.HashKeys, 0), k.exchange(a, plan.HashKeys, 1))})
			k.sink(j, "out", sink)
		}, `
Source: a[1] x1
IntervalJoin[4] -> out[5]: Writer x1 <HASH Source: a[1] <HASH Source: a[1]
task Source: a[1] => IntervalJoin[4] -> out[5]: Writer`},
		{"sink of its own width", JobConfig{Parallelism: 2}, func(k *graphKit) {
			n := k.sink(k.scan("t", src, nil), "out", newMemSink(true)).(*plan.Sink)
			n.Sink.Parallelism = 3
		}, `
Source: t[1] x2
out[2]: Writer -> out[2]: Committer x3 <REBALANCE Source: t[1]
task Source: t[1]
task out[2]: Writer -> out[2]: Committer`},
		{"a sink's constraints", JobConfig{Parallelism: 1}, func(k *graphKit) {
			n := k.sink(k.scan("t", src, nil), "out", sink).(*plan.Sink)
			n.Enforcer.NotNull = []int{0}
		}, `
Source: t[1] -> ConstraintEnforcer[2] -> out[2]: Writer x1
task Source: t[1] -> ConstraintEnforcer[2] -> out[2]: Writer`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var k graphKit
			c.build(&k)
			j, err := cut(k.graph(), &c.cfg)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.TrimSpace(draw(j)); got != strings.TrimSpace(c.want) {
				t.Errorf("got\n%s\nwant%s", got, c.want)
			}
		})
	}
}

// TestDiamond: one scan feeds both inputs of an operator on different ways; rows, watermarks, barriers and the end come
// through at every width.
func TestDiamond(t *testing.T) {
	for _, par := range []int{1, 3} {
		src, sink := newMemSource(true), newMemSink(true)
		for i := range 3 {
			src.split(fmt.Sprintf("t-%d", i), kvs(1000, 7)...)
		}
		src.allow(400)
		c := testCluster(t, Options{})
		ev := listen(c)
		var k graphKit
		s := k.scan("t", src, onEvent(1))
		u := k.add(&plan.Union{Info: k.info("Union", "", kvFields, k.exchange(k.probe(s), plan.Rebalance), k.exchange(k.probe(s), plan.HashKeys, 1))})
		k.sink(k.exchange(u, plan.HashKeys, 0), "out", sink)
		j := submit(t, c, k.graph(), JobConfig{Parallelism: par})
		ev.await(JobRunning, 1)
		for len(sink.sorted()) < 2*3*400 {
			if _, err := j.Checkpoint(within(t)); err != nil {
				t.Fatal(err)
			}
		}
		src.allow(1 << 60)
		wait(t, j)
		if n := len(sink.sorted()); n != 6000 {
			t.Errorf("width %d: %d rows, want 6000", par, n)
		}
	}
}

// TestStatementSet: two sinks on one scan get the same rows, whatever their widths.
func TestStatementSet(t *testing.T) {
	src := newMemSource(true).split("t-0", kvs(3000, 7)...)
	a, b := newMemSink(true), newMemSink(false)
	c := testCluster(t, Options{})
	var k graphKit
	s := k.scan("t", src, nil)
	k.sink(k.probe(s), "a", a)
	k.sink(k.probe(s), "b", b).(*plan.Sink).Sink.Parallelism = 3
	wait(t, submit(t, c, k.graph(), JobConfig{Parallelism: 2}))
	if !slices.Equal(a.sorted(), b.sorted()) || len(a.sorted()) != 3000 {
		t.Errorf("%d and %d rows", len(a.sorted()), len(b.sorted()))
	}
}

func TestGraphRefusals(t *testing.T) {
	c := testCluster(t, Options{})
	var k graphKit
	k.sink(k.scan("t", newMemSource(true), nil), "out", newMemSink(false))
	if _, err := c.Submit(within(t), k.graph(), JobConfig{Parallelism: 200, MaxParallelism: 100}); err == nil || !strings.Contains(err.Error(), "pipeline.max-parallelism 100") {
		t.Errorf("%v", err)
	}
	if _, err := c.Submit(within(t), &plan.Graph{JobName: "none"}, JobConfig{}); err == nil {
		t.Error("an empty graph was taken")
	}
	var unknown graphKit
	unknown.sink(unknown.add(&plan.Scan{Info: unknown.info("TableSourceScan", "s", kvFields), Table: &connectors.Table{Name: "t"}, Source: newMemSource(true).source()}), "out", newMemSink(false))
	late := &plan.Graph{JobName: "late", Nodes: []plan.Node{unknown.g.Nodes[1], unknown.g.Nodes[0]}}
	if _, err := c.Submit(within(t), late, JobConfig{}); err == nil || !strings.Contains(err.Error(), "comes after its consumer") {
		t.Errorf("%v", err)
	}
}
