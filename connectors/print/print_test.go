package print

import (
	"bytes"
	"context"
	"testing"

	"runnel/connectors"
	"runnel/types"
)

func TestLines(t *testing.T) {
	fields := []types.Field{{Name: "a", Type: types.Of(types.Int)}, {Name: "b", Type: types.String()}}
	for _, c := range []struct {
		options     connectors.Options
		subtask, of int
		want        string
	}{
		{nil, 0, 1, "+I[1, x]\n-U[1, x]\n+U[2, null]\n-D[2, null]\n"},
		{nil, 1, 2, "2> +I[1, x]\n2> -U[1, x]\n2> +U[2, null]\n2> -D[2, null]\n"},
		{connectors.Options{"print-identifier": "out"}, 0, 1, "out> +I[1, x]\nout> -U[1, x]\nout> +U[2, null]\nout> -D[2, null]\n"},
		{connectors.Options{"standard-error": "true"}, 0, 1, "+I[1, x]\n-U[1, x]\n+U[2, null]\n-D[2, null]\n"},
		{connectors.Options{"print-identifier": "out"}, 2, 3, "out:3> +I[1, x]\nout:3> -U[1, x]\nout:3> +U[2, null]\nout:3> -D[2, null]\n"},
	} {
		s, err := sink(connectors.SinkRequest{Table: &connectors.Table{Options: c.options}, Query: types.AllKinds})
		if err != nil {
			t.Fatal(err)
		}
		if s.Mode != types.AllKinds {
			t.Fatalf("mode %s", s.Mode)
		}
		var out, errOut bytes.Buffer
		w, err := s.Open(context.Background(), connectors.SinkEnv{Env: connectors.Env{Stdout: &out, Stderr: &errOut, Subtask: c.subtask, Of: c.of}})
		if err != nil {
			t.Fatal(err)
		}
		b := types.NewBatch(fields)
		add := func(kind types.RowKind, a int64, s string) {
			b.Cols[0].AppendInt(a)
			if s == "" {
				b.Cols[1].AppendNull()
			} else {
				b.Cols[1].AppendStr(s)
			}
			b.Push(kind)
		}
		add(types.Insert, 1, "x")
		add(types.Insert, 9, "not selected")
		add(types.UpdateBefore, 1, "x")
		add(types.UpdateAfter, 2, "")
		add(types.Delete, 2, "")
		b.Sel = []int32{0, 2, 3, 4}
		if err := w.Write(context.Background(), b); err != nil {
			t.Fatal(err)
		}
		if errOut.Len() > 0 && c.options["standard-error"] == "" || out.Len() > 0 && c.options["standard-error"] == "true" {
			t.Errorf("%v: %q on standard output, %q on standard error", c.options, out.String(), errOut.String())
		}
		if got := out.String() + errOut.String(); got != c.want {
			t.Errorf("got\n%swant\n%s", got, c.want)
		}
	}
}
