package exec

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"runnel/plan"
)

// sorting is a batch job that sorts by v.
func sorting(src *memSource, sink *memSink) *plan.Graph {
	var k graphKit
	in := k.exchange(k.scan("t", src, nil), plan.Singleton)
	k.sink(k.add(&plan.Sort{Info: k.info("Sort", "", kvFields, in), Keys: []plan.SortKey{{Column: 1, Desc: true}}}), "out", sink)
	g := k.graph()
	g.Batch = true
	return g
}

func spilledBytes(j *Job) (n int64) {
	for _, v := range j.Details().Vertices {
		for _, s := range v.Subtasks {
			for _, o := range s.Metrics.Operators {
				for _, m := range o.Own {
					if m.Name == "numBytesSpilled" {
						n += m.Value
					}
				}
			}
		}
	}
	return n
}

func filesIn(t *testing.T, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range list {
		names = append(names, f.Name())
	}
	return names
}

// A batch job with little memory gives the same rows, and leaves no files, whether it ends well or fails; what a killed
// process has left goes too.
func TestBatchSpill(t *testing.T) {
	want := newMemSink(false)
	j := submit(t, testCluster(t, Options{Dir: t.TempDir()}), sorting(threeSplits(kvs(6000, 11)), want), JobConfig{})
	wait(t, j)
	if n := spilledBytes(j); n != 0 {
		t.Errorf("%d bytes on disk with much memory", n)
	}
	for name, fails := range map[string]bool{"ends": false, "fails": true} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			tmp := filepath.Join(dir, "tmp")
			if err := os.Mkdir(tmp, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(tmp, "runnel-rows-1"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
			src, got := threeSplits(kvs(6000, 11)), newMemSink(false)
			if fails {
				src.failAt["t-1/1999"] = errors.New("torn")
			}
			j := submit(t, testCluster(t, Options{Dir: dir}), sorting(src, got), JobConfig{Memory: 16 << 10})
			err := j.Wait(within(t))
			if fails != (err != nil) {
				t.Fatalf("the job ended with %v", err)
			}
			if spilledBytes(j) == 0 {
				t.Error("nothing on disk")
			}
			if !fails && !slices.Equal(got.sorted(), want.sorted()) {
				t.Error("other rows")
			}
			if left := filesIn(t, tmp); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestTempFileElsewhere(t *testing.T) {
	a, b := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	c := testCluster(t, Options{Dir: t.TempDir()})
	for turn := range 2 {
		f, err := c.tempFile(a+","+b, turn)
		if err != nil {
			t.Fatal(err)
		}
		if name := f.(*tempFile).Name(); !strings.HasPrefix(name, []string{a, b}[turn]) {
			t.Errorf("file %s", name)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := c.tempFile(file, 0); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("error %v", err)
	}
}
