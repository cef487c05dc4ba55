package op

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"runnel/connectors"
	"runnel/expr"
)

// pollAll reads a source's one split to its end, starting anew from a snapshot after every poll if restore is set.
func pollAll(t *testing.T, src *connectors.Source, restore bool) (rows []string, failed error) {
	t.Helper()
	enum, err := src.Enumerate(connectors.Env{})
	if err != nil {
		t.Fatal(err)
	}
	splits, err := enum.Discover(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	var reader connectors.Reader
	for len(splits) > 0 {
		if reader == nil || restore {
			if reader, err = src.Read(connectors.Env{}, func() {}); err != nil {
				t.Fatal(err)
			}
			if err := reader.Assign(splits); err != nil {
				t.Fatal(err)
			}
		}
		p, err := reader.Poll()
		if err != nil {
			return rows, err
		}
		for k := range p.Rows.Rows() {
			rows = append(rows, p.Rows.Kind(int32(k)).String()+rowWords(p.Rows, int32(k)))
		}
		if splits, err = reader.Snapshot(); err != nil {
			t.Fatal(err)
		}
		if p.Ended != (len(splits) == 0) {
			t.Fatalf("ended %t, %d splits left", p.Ended, len(splits))
		}
	}
	return rows, nil
}

func TestValues(t *testing.T) {
	f := fieldsOf("v int, k string")
	var rows [][]expr.Expr
	var want []string
	for i := range 2500 {
		rows = append(rows, []expr.Expr{call(t, nil, "+", i, 1), expr.NewString("a")})
		want = append(want, fmt.Sprintf("+I %d a", i+1))
	}
	src := NewValues("Values[1]", f, rows, &expr.Env{})
	for _, restore := range []bool{false, true} {
		got, err := pollAll(t, src, restore)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("restore %t: %d rows, error %v", restore, len(got), err)
		}
	}
}

func TestValuesFailingRow(t *testing.T) {
	rows := [][]expr.Expr{{call(t, nil, "/", 4, 2)}, {call(t, nil, "/", 4, 0)}}
	got, err := pollAll(t, NewValues("Values[1]", fieldsOf("v int"), rows, &expr.Env{}), false)
	if !slices.Equal(got, []string{"+I 2"}) || err == nil || !strings.Contains(err.Error(), "/ by zero; operator Values[1]") {
		t.Errorf("got %v, error %v", got, err)
	}
}

func TestValuesEmpty(t *testing.T) {
	got, err := pollAll(t, NewValues("Values[1]", fieldsOf("v int"), nil, &expr.Env{}), false)
	if len(got) != 0 || err != nil {
		t.Errorf("got %v, error %v", got, err)
	}
}

func TestValuesRefusesForeignPositions(t *testing.T) {
	src := NewValues("Values[1]", fieldsOf("v int"), nil, &expr.Env{})
	for _, state := range [][]byte{nil, {1}, {1, 7}, {9, 0}} {
		r, err := src.Read(connectors.Env{}, func() {})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Assign([]connectors.Split{{ID: valuesSplit, State: state}}); err == nil {
			t.Errorf("%v: no error", state)
		}
	}
}
