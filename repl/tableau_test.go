package repl

import (
	"bytes"
	"strings"
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

// A row that is wider than the terminal: texts become narrower, numbers stay whole, what is left over on the right is named.
func TestTableauFitsATerminal(t *testing.T) {
	fields := []types.Field{
		{Name: "id", Type: types.Of(types.BigInt)}, {Name: "a_rather_long_name_of_a_column", Type: types.String()},
		{Name: "ts", Type: types.TimestampOf(3)}, {Name: "last", Type: types.String()},
	}
	const number, text = "1234567890123", "some text that is long"
	for _, c := range []struct {
		screen     int
		names, row string
		out        string
	}{
		{126, "| op |                   id | a_rather_long_name_of_a_column |                      ts |                           last |",
			"| +I |        1234567890123 |         some text that is long | 2024-01-01 00:00:00.000 |                              x |", ""},
		{85, "| op |                   id | a_rather_... |                      ts |         last |",
			"| +I |        1234567890123 | some text... | 2024-01-01 00:00:00.000 |            x |", ""},
		{80, "| op |                  id | a_rathe... |                      ts |       last |",
			"| +I |       1234567890123 | some te... | 2024-01-01 00:00:00.000 |          x |", ""},
		{60, "| op |           id | a_rathe... |                      ts |",
			"| +I | 1234567890123 | some te... | 2024-01-01 00:00:00.000 |", "last"},
		{20, "| op |          id |", "| +I | 1234567890123 |", "a_rather_long_name_of_a_column,ts,last"},
	} {
		var out bytes.Buffer
		tab := newTableau(&out, fields, 30, runeColumns)
		left := strings.Join(tab.fitTo(c.screen), ",")
		if err := tab.begin(); err != nil {
			t.Fatal(err)
		}
		tab.row(types.Insert, []string{number, text, "2024-01-01 00:00:00.000", "x"})
		tab.out.Flush()
		lines := strings.Split(out.String(), "\n")
		if lines[1] != c.names || lines[3] != c.row || left != c.out || len(lines[0]) != len(lines[1]) || len(lines[1]) > c.screen {
			t.Errorf("%d columns: left out %q\n%s", c.screen, left, out.String())
		}
	}
}
