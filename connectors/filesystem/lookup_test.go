package filesystem

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"runnel/connectors"
	formats "runnel/connectors/format"
	"runnel/types"
)

func TestLookup(t *testing.T) {
	dir := t.TempDir()
	for name, lines := range map[string]string{"a.csv": "1,one,x\n2,two,x\nn/a,none,x\n", "b.csv": "1,uno,y\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(lines), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	find := func(name string) (connectors.Format, bool) {
		all := formats.All()
		i := slices.IndexFunc(all, func(f connectors.Format) bool { return f.Name == name })
		return all[i], true
	}
	table := &connectors.Table{Name: "c.d.t", Options: connectors.Options{"path": dir, "format": "csv", "csv.null-literal": "n/a"}, Columns: []connectors.Column{
		{Name: "k", Type: types.Of(types.BigInt)}, {Name: "v", Type: types.String()}, {Name: "w", Type: types.String()}}}
	l, err := Connector(find).Lookup(connectors.LookupRequest{Table: table, Columns: []int{1, 0}, Keys: []int{0}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	keys := types.NewBatch([]types.Field{{Name: "k", Type: types.Of(types.BigInt)}})
	for _, k := range []int64{7, 1, 2} {
		keys.Cols[0].AppendInt(k)
		keys.Push(types.Insert)
	}
	for range 2 {
		rows, of, err := l.Lookup(t.Context(), keys)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range int32(rows.Len) {
			got = append(got, string(types.AppendPrintedRow(nil, rows, i)))
		}
		if want := []string{"+I[one, 1]", "+I[uno, 1]", "+I[two, 2]"}; !slices.Equal(got, want) || !slices.Equal(of, []int32{1, 1, 2}) {
			t.Errorf("%v of %v, want %v", got, of, want)
		}
	}
}
