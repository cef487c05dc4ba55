package kafka

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"runnel/connectors"
	"runnel/connectors/format"
	"runnel/internal/cputime"
	"runnel/types"
)

const brokerEnv = "RUNNEL_KAFKA_BENCH_BROKER"

// benchBroker is the process that is the broker of a benchmark: it says where it listens and ends with its standard input.
func benchBroker(dir string) error {
	h := host{dir: dir, retention: 8 << 30}
	addr, err := h.address(context.Background(), true)
	if err != nil {
		return err
	}
	fmt.Println(addr)
	bufio.NewReader(os.Stdin).ReadByte()
	return h.close()
}

// benchRig starts a broker in another process, so that its CPU does not count.
func benchRig(b *testing.B) (*rig, *connectors.Table) {
	b.Helper()
	r := &rig{servers: realBootstrap(), dir: b.TempDir()}
	if r.servers == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^$")
		cmd.Env = append(os.Environ(), brokerEnv+"="+b.TempDir())
		cmd.Stderr = os.Stderr
		in, err := cmd.StdinPipe()
		if err != nil {
			b.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			b.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { in.Close(); cmd.Wait() })
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			b.Fatal(err)
		}
		r.servers = strings.TrimSpace(line)
	}
	r.k = New(Config{Formats: format.All()})
	topic := fmt.Sprintf("bench-%d", time.Now().UnixNano())
	t := r.table(topic, []string{"order_id INT", "user_id INT", "amount INT", "name STRING", "ts TS"}, "format", "json",
		"scan.startup.mode", "earliest-offset", "sink.transactional-id-prefix", "bench")
	return r, t
}

func benchBatch(t *connectors.Table) *types.Batch {
	batch := types.NewBatch(t.Physical())
	for i := range types.BatchRows {
		batch.Cols[0].AppendInt(int64(i + 1000))
		batch.Cols[1].AppendInt(int64(i * 7 % 1000))
		batch.Cols[2].AppendInt(int64(i * 31 % 5000))
		batch.Cols[3].AppendStr("customer")
		batch.Cols[4].AppendInt(1718000000000000 + int64(i)*1000)
		batch.Push(types.Insert)
	}
	return batch
}

// fill writes about rows rows and gives how many.
func fill(b *testing.B, r *rig, t *connectors.Table, rows int) int {
	b.Helper()
	sink, err := r.k.Connector().Sink(connectors.SinkRequest{Table: t, Columns: all(t)})
	if err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	w, err := sink.Open(ctx, connectors.SinkEnv{Env: connectors.Env{Zone: time.UTC, Now: time.Now, Of: 1, Dir: r.dir}, Run: "run", Sink: "sink"})
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	batch := benchBatch(t)
	n := 0
	for ; n < rows; n += batch.Len {
		if err := w.Write(ctx, batch); err != nil {
			b.Fatal(err)
		}
	}
	cs, _, err := w.Prepare(ctx, 1)
	if err != nil {
		b.Fatal(err)
	}
	if len(cs) > 0 {
		m, err := sink.Committer(connectors.SinkEnv{Env: connectors.Env{Dir: r.dir}, Run: "run", Sink: "sink"})
		if err != nil {
			b.Fatal(err)
		}
		defer m.Close()
		if err := m.Commit(ctx, 1, cs); err != nil {
			b.Fatal(err)
		}
	}
	return n
}

// BenchmarkProduce encodes JSON of five columns and writes it; the figure is CPU of this process for a row.
func BenchmarkProduce(b *testing.B) {
	for _, c := range []struct{ name, guarantee, log string }{{"at-least-once", "at-least-once", "auto"}, {"exactly-once", exactlyOnce, "false"}, {"exactly-once with row log", exactlyOnce, "true"}} {
		b.Run(c.name, func(b *testing.B) {
			r, t := benchRig(b)
			t.Options["sink.delivery-guarantee"], t.Options["sink.row-log"] = c.guarantee, c.log
			fill(b, r, t, 10000)
			b.ReportAllocs()
			b.ResetTimer()
			before := cputime.Process()
			n := fill(b, r, t, b.N)
			b.ReportMetric(float64((cputime.Process()-before).Nanoseconds())/float64(n), "cpu-ns/row")
		})
	}
}

// BenchmarkRead fetches and decodes JSON of five columns; the figure is CPU of this process for a row.
func BenchmarkRead(b *testing.B) {
	r, t := benchRig(b)
	fill(b, r, t, b.N)
	src, err := r.k.Connector().Source(connectors.ScanRequest{Table: t, Columns: all(t)})
	if err != nil {
		b.Fatal(err)
	}
	env := connectors.Env{Zone: time.UTC, Now: time.Now, Of: 1}
	wake := make(chan struct{}, 1)
	reader, err := src.Read(env, func() {
		select {
		case wake <- struct{}{}:
		default:
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	defer reader.Close()
	b.ReportAllocs()
	b.ResetTimer()
	before := cputime.Process()
	if err := reader.Assign([]connectors.Split{split{topicPartition: topicPartition{t.Options["topic"], 0}, stop: noStop}.encode()}); err != nil {
		b.Fatal(err)
	}
	n := 0
	for n < b.N {
		p, err := reader.Poll()
		if err != nil {
			b.Fatal(err)
		}
		if p.Rows != nil {
			n += p.Rows.Len
		}
		if !p.More && n < b.N {
			<-wake
		}
	}
	b.ReportMetric(float64((cputime.Process()-before).Nanoseconds())/float64(n), "cpu-ns/row")
}
