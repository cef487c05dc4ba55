package op

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"runnel/types"
)

// Columns of keptFields: the key lies between other columns.
const (
	keptInt   = 1
	keptText  = 5
	keptTime  = 7
	keptOrder = 8
)

var keptKey = []int{keptInt, keptText}

func keptFields() []types.Field {
	return fieldsOf("a string, k int, d double, w wide, c string, kk string, b bool, ts rowtime, v int")
}

// keptSource makes rows of few keys, whose texts are of all lengths and whose values are often NULL.
type keptSource struct{ *rand.Rand }

func (s keptSource) pick(from ...string) string { return from[s.IntN(len(from))] }

// text makes a text that takes little room of state, more, or more than is ever used again.
func (s keptSource) text() string {
	n := []int{-1, -1, 0, 1, 7, 8, 9, 63, 64, 65, 300, 2040, 2100, 70_000}[s.IntN(14)]
	if n == 70_000 && s.IntN(8) > 0 {
		n = 5
	}
	switch n {
	case -1:
		return "NULL"
	case 0:
		return "''"
	}
	return strings.Repeat(string(rune('a'+s.IntN(26))), n)
}

func (s keptSource) row() []string {
	return []string{
		s.text(), s.pick("NULL", "7", "-300"), s.pick("NULL", "1.5", "-0.25"), s.pick("NULL", "0", "-5", "9000000000"), s.text(),
		s.pick("NULL", "''", "longerthanaword"), s.pick("NULL", "true", "false"), strconv.Itoa(s.IntN(20)),
		s.pick("NULL", "0", "1", "-70000", "2", "3", "4", "2147483647"),
	}
}

// bare makes all columns of a row NULL but its key and its time.
func bare(row []string) {
	for i := range row {
		if !slices.Contains(keptKey, i) && i != keptTime {
			row[i] = "NULL"
		}
	}
}

// keptModel says what comes out for a change, given the rows that are kept for its key, and which rows are kept then.
type keptModel func(kept [][]string, kind string, row []string) (now [][]string, out []string)

func change(kind string, row []string, more ...string) string {
	return kind + " " + strings.Join(append(slices.Clone(row), more...), " ")
}

// keptLast is Deduplicate for the last row, where better decides; nil: any row that differs.
func keptLast(better func(row, kept []string) bool) keptModel {
	return func(kept [][]string, _ string, row []string) ([][]string, []string) {
		if len(kept) == 0 {
			return [][]string{row}, []string{change("+I", row)}
		}
		if better == nil && slices.Equal(kept[0], row) || better != nil && !better(row, kept[0]) {
			return kept, nil
		}
		return [][]string{row}, []string{change("-U", kept[0]), change("+U", row)}
	}
}

func number(row []string, col int) int {
	n, err := strconv.Atoi(row[col])
	if err != nil {
		return -1 << 40 // NULL is the last in a descending order
	}
	return n
}

// keptNormalize is ChangelogNormalize.
func keptNormalize(kept [][]string, kind string, row []string) ([][]string, []string) {
	switch {
	case kind == "-D" && len(kept) == 0:
		return nil, nil
	case kind == "-D":
		return nil, []string{change("-D", kept[0])}
	case len(kept) == 0:
		return [][]string{row}, []string{change("+I", row)}
	case kind == "+I" && slices.Equal(kept[0], row):
		return kept, nil
	}
	return [][]string{row}, []string{change("-U", kept[0]), change("+U", row)}
}

// keptUpserts is UpsertMaterializer without a key of the input.
func keptUpserts(kept [][]string, kind string, row []string) ([][]string, []string) {
	if kind != "-D" {
		out := "+U"
		if len(kept) == 0 {
			out = "+I"
		}
		return append(kept, row), []string{change(out, row)}
	}
	at := slices.IndexFunc(kept, func(k []string) bool { return slices.Equal(k, row) })
	switch last := at == len(kept)-1; {
	case at < 0:
		return kept, nil
	case len(kept) == 1:
		return nil, []string{change("-D", row)}
	default:
		kept = slices.Delete(slices.Clone(kept), at, at+1)
		if !last {
			return kept, nil
		}
		return kept, []string{change("+U", kept[len(kept)-1])}
	}
}

// keptRanks is a numbered TopN.
func keptRanks(to int) keptModel {
	return func(kept [][]string, _ string, row []string) ([][]string, []string) {
		at := len(kept)
		for at > 0 && number(row, keptOrder) > number(kept[at-1], keptOrder) {
			at--
		}
		if at == to {
			return kept, nil
		}
		now := slices.Insert(slices.Clone(kept), at, row)
		var out []string
		for ; at < len(kept); at++ {
			rank := strconv.Itoa(at + 1)
			out = append(out, change("-U", kept[at], rank), change("+U", now[at], rank))
		}
		if at < to {
			return now, append(out, change("+I", now[at], strconv.Itoa(at+1)))
		}
		return now[:to], out
	}
}

// TestKeptRows compares every operator that keeps rows, whole or without the columns of their key, with a model of it. Rows are
// replaced by longer and shorter ones and by such of NULLs alone, over restarts and changes of parallelism.
func TestKeptRows(t *testing.T) {
	f := keptFields()
	dedup := func(d Deduplication) func() Operator {
		d.In, d.Keys, d.Time, d.UpdateBefore = f, keptKey, keptTime, true
		return func() Operator { return NewDeduplicate(d) }
	}
	rank := func(to int64) func() Operator {
		return func() Operator {
			return NewTopN(Ranking{In: f, Partition: keptKey, Order: keysOf(f, "v desc nulls last"), From: 1, To: to, Numbered: true, UpdateBefore: true, ToColumn: -1})
		}
	}
	pairs := Check{Mode: types.AllKinds, Pairs: true}
	for _, c := range []struct {
		name     string
		make     func() Operator
		model    keptModel
		check    Check
		takeBack bool
		numbered bool
	}{
		{"last", dedup(Deduplication{Last: true}), keptLast(nil), pairs, false, false},
		{"last by time", dedup(Deduplication{Last: true, Rowtime: true}),
			keptLast(func(row, kept []string) bool { return number(row, keptTime) >= number(kept, keptTime) }), pairs, false, false},
		{"first by time", dedup(Deduplication{Rowtime: true}),
			keptLast(func(row, kept []string) bool { return number(row, keptTime) < number(kept, keptTime) }), pairs, false, false},
		{"normalize", func() Operator { return NewChangelogNormalize(f, keptKey, true, 0, MiniBatch{}) }, keptNormalize, pairs, true, false},
		{"materialize", func() Operator { return NewUpsertMaterializer(f, keptKey, nil, 0) }, keptUpserts, Check{Mode: types.Upsert}, true, false},
		{"top 1", rank(1), keptRanks(1), pairs, false, true},
		{"top 3", rank(3), keptRanks(3), pairs, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := f
			if c.numbered {
				out = append(f[:len(f):len(f)], fieldsOf("rank bigint!")...)
			}
			r := rig{make: c.make, in: [][]types.Field{f}, out: out, keys: [][]int{keptKey}, check: c.check}
			r.run(t, keptTrace(c.model, c.takeBack))
		})
	}
}

// keptTrace makes a trace of random changes, with what the model says comes out.
func keptTrace(model keptModel, takeBack bool) string {
	src := keptSource{rand.New(rand.NewPCG(11, 12))}
	kept := map[string][][]string{}
	var b strings.Builder
	for range 400 {
		kind, row := "+I", src.row()
		key := row[keptInt] + " " + row[keptText]
		switch old := kept[key]; {
		case src.IntN(6) == 0:
			bare(row)
		case len(old) > 0 && src.IntN(6) == 0:
			row = old[src.IntN(len(old))]
		}
		if takeBack {
			kind = src.pick("+I", "+U", "+U", "-D")
			if old := kept[key]; kind == "-D" && len(old) > 0 {
				row = old[src.IntN(len(old))]
			}
		}
		var out []string
		kept[key], out = model(kept[key], kind, row)
		fmt.Fprintf(&b, "%s\n", change(kind, row))
		for _, o := range out {
			fmt.Fprintf(&b, "\t%s\n", o)
		}
	}
	return b.String()
}
