package kafka

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestMendIndexes has the embedded broker killed between its two writes of a batch, as it were: a copy of its directory
// lacks what the index says of the last batches. They are part of an open transaction, and stay unseen.
func TestMendIndexes(t *testing.T) {
	r := &rig{t: t, dir: t.TempDir(), servers: "localhost:0"}
	r.open()
	tab := r.txnTable(1)
	topic := tab.Options["topic"]
	j := r.job(tab)
	j.mustStart(snapshot{}, 1)
	j.write(0, "1")
	j.write(0, "2")
	j.checkpoint(1)
	j.write(0, "70")
	j.write(0, "71")
	const batches = 5 // with the marker of the commit

	for _, lost := range []int64{indexEntry, 2*indexEntry - 3} {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(r.dir)); err != nil {
			t.Fatal(err)
		}
		t.Run(fmt.Sprintf("%d bytes", lost), func(t *testing.T) {
			part := filepath.Join(dir, "broker", "data", "partitions", topic+"-0")
			if err := os.Truncate(filepath.Join(part, "0.idx"), batches*indexEntry-lost); err != nil {
				t.Fatal(err)
			}
			for round, want := range [][]string{{"+I 1", "+I 2"}, {"+I 1", "+I 2", "+I 3"}, {"+I 1", "+I 2", "+I 3", "+I 4"}} {
				again := &rig{t: t, dir: dir, servers: r.servers}
				again.open()
				again.want(again.committed(topic), want...)
				again.writeRows(again.table(topic, []string{"a INT"}), fmt.Sprint(3+round)) // must not take another's entry
				if err := again.k.Close(); err != nil {
					t.Fatal(err)
				}
				// Without the snapshot of a good end the broker goes by its files alone, as after a kill.
				if err := os.Remove(filepath.Join(part, "snapshot.json")); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	j.close()
}

// TestMendTopics has the embedded broker killed, as it were, while it serves a topic that nobody created: its rows are
// there for the next one.
func TestMendTopics(t *testing.T) {
	r := &rig{t: t, dir: t.TempDir(), servers: "localhost:0"}
	r.open()
	defer r.k.Close()
	r.writeRows(r.table("made-by-writing", []string{"a INT"}), "1", "2")
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(r.dir)); err != nil {
		t.Fatal(err)
	}
	again := &rig{t: t, dir: dir, servers: r.servers}
	again.open()
	defer again.k.Close()
	again.want(again.committed("made-by-writing"), "+I 1", "+I 2")
	again.writeRows(again.table("made-by-writing", []string{"a INT"}), "3")
	again.want(again.committed("made-by-writing"), "+I 1", "+I 2", "+I 3")
}
