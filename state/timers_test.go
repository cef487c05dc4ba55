package state

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"runnel/types"
)

type testTimer struct {
	time int64
	key  uint64
}

type timersModel map[testTimer]bool

func (m timersModel) clone() timersModel {
	c := timersModel{}
	for k := range m {
		c[k] = true
	}
	return c
}

func timersStep(t *testing.T, rnd *rand.Rand, tm *Timers, m timersModel, at *int64) {
	x := testTimer{*at + int64(rnd.IntN(100)), uint64(rnd.IntN(50))}
	k := testKey(x.key)
	switch rnd.IntN(30) {
	case 0:
		*at += int64(rnd.IntN(20))
		popAll(t, tm, m, *at, all)
	case 1, 2, 3, 4, 5:
		if tm.Delete(x.time, k) != m[x] {
			t.Fatal("delete")
		}
		delete(m, x)
	default:
		if tm.Add(x.time, k) == m[x] {
			t.Fatal("add")
		}
		m[x] = true
	}
}

// popAll takes out everything up to a time and compares, order included.
func popAll(t *testing.T, tm *Timers, m timersModel, to int64, keep Range) {
	t.Helper()
	var want []testTimer
	for x := range m {
		if x.time <= to && keep.Has(testKey(x.key).Group) {
			want = append(want, x)
		}
	}
	byTime := func(a, b testTimer) int { return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.key, b.key)) }
	slices.SortFunc(want, byTime)
	var got []testTimer
	last := int64(-1)
	for {
		time, k, ok := tm.Pop(to)
		if !ok {
			break
		}
		if time < last {
			t.Fatalf("timer of %d after one of %d", time, last)
		}
		if k.Hash != types.HashKey(k.Words) || int(k.Group) != types.KeyGroup(k.Hash, testGroups) {
			t.Fatal("hash or group of a timer's key")
		}
		last = time
		got = append(got, testTimer{time, k.Words[0]})
		delete(m, got[len(got)-1])
	}
	slices.SortFunc(got, byTime)
	if !slices.Equal(got, want) {
		t.Fatalf("up to %d:\n got %v\nwant %v", to, got, want)
	}
	if next := tm.Next(); next <= to {
		t.Fatalf("next is %d after all up to %d", next, to)
	}
}

func TestTimers(t *testing.T) {
	rnd := newRand(t)
	k := NewKeyed(Config{Operator: "Test", Groups: all})
	tm, err := k.Timers(Descriptor{Format: 1, Name: "timers"})
	if err != nil {
		t.Fatal(err)
	}
	m, sink := timersModel{}, newBlobs()
	var at, completed int64
	for id := int64(1); id <= int64(rounds(25)); id++ {
		for range rnd.IntN(3000) {
			timersStep(t, rnd, tm, m, &at)
		}
		frozen := m.clone()
		k.Freeze(Freeze{Checkpoint: id, Completed: completed})
		for done := false; !done; {
			if done, err = k.Drain(1+rnd.IntN(100), sink); err != nil {
				t.Fatal(err)
			}
			for range rnd.IntN(60) {
				timersStep(t, rnd, tm, m, &at)
			}
		}
		for i := range 3 {
			g := RangeOf(i, 3, testGroups)
			k := NewKeyed(Config{Operator: "Test", Groups: g, Restore: restoredFrom(RestoredSubtask{SubtaskState{Groups: all, States: k.Snapshot()}, sink})})
			restored, err := k.Timers(Descriptor{Format: 1, Name: "timers"})
			if err != nil {
				t.Fatal(err)
			}
			popAll(t, restored, frozen.clone(), NoTimer-1, g)
			if restored.Len() != 0 {
				t.Fatal("timers are left")
			}
		}
		if rnd.IntN(3) > 0 {
			completed = id
		}
	}
	popAll(t, tm, m, NoTimer-1, all)
	if tm.Len() != 0 || tm.Next() != NoTimer {
		t.Fatal("timers are left")
	}
}
