package repl

import (
	"bytes"
	"testing"

	"runnel/types"
)

func TestTableau(t *testing.T) {
	var out bytes.Buffer
	tab := newTableau(&out, []types.Field{
		{Name: "id", Type: types.Of(types.Int)}, {Name: "name", Type: types.String()}, {Name: "ok", Type: types.Of(types.Boolean)},
	}, 12, flinkColumns)
	if err := tab.begin(); err != nil {
		t.Fatal(err)
	}
	tab.row(types.Insert, []string{"7", "<NULL>", "TRUE"})
	tab.row(types.UpdateBefore, []string{"8", "a text that is too long", "<NULL>"})
	tab.row(types.UpdateAfter, []string{"8", "東京タワーと東京", "FALSE"})
	if err := tab.end(); err != nil {
		t.Fatal(err)
	}
	want := `+----+-------------+--------------+--------+
| op |          id |         name |     ok |
+----+-------------+--------------+--------+
| +I |           7 |       <NULL> |   TRUE |
| -U |           8 | a text th... | <NULL> |
| +U |           8 |  東京タワ... |  FALSE |
+----+-------------+--------------+--------+
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

func TestTableOfAnswers(t *testing.T) {
	var out bytes.Buffer
	tab := table{names: []string{"name", "n"}, rows: [][]string{{"a", "100"}, {"long name", ""}}, by: flinkColumns}
	if err := tab.write(&out); err != nil {
		t.Fatal(err)
	}
	want := `+-----------+-----+
|      name |   n |
+-----------+-----+
|         a | 100 |
| long name |     |
+-----------+-----+
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}
