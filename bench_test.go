package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// buildProgram makes the binary that the benchmarks start.
func buildProgram(tb testing.TB) string {
	tb.Helper()
	bin := filepath.Join(tb.TempDir(), "runnel")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		tb.Fatalf("go build: %v\n%s", err, out)
	}
	return bin
}

// script runs the program on a text and gives the CPU time that the process took.
func runScript(tb testing.TB, bin, data, text string, args ...string) time.Duration {
	tb.Helper()
	file := filepath.Join(tb.TempDir(), "script.sql")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command(bin, append([]string{"--data", data, "-f", file}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		tb.Fatalf("%v\n%s", err, out)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// startBroker keeps a shell open whose process serves the embedded broker at the address.
func startBroker(tb testing.TB, bin, address string) {
	tb.Helper()
	cmd := exec.Command(bin, "--data", tb.TempDir(), "--embedded-kafka="+address)
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	// A bounded read of a topic that is made by it opens the broker.
	fmt.Fprintf(in, `CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'topic' = 'warm-up', 'properties.bootstrap.servers' = '%s',
  'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset', 'format' = 'json');
INSERT INTO t VALUES (1);
SELECT * FROM t LIMIT 1;
SHOW CATALOGS;
`, address)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "default_catalog") {
			go io.Copy(io.Discard, out)
			return
		}
	}
	tb.Fatal("the broker's process ended")
}

const benchRows = 1_000_000

// BenchmarkKafka measures the whole program against a broker in another process: CPU time per row of the program alone.
func BenchmarkKafka(b *testing.B) {
	const address = "127.0.0.1:19592"
	bin := buildProgram(b)
	startBroker(b, bin, address)
	table := func(name, topic, more string) string {
		return fmt.Sprintf(`CREATE TABLE %s (order_id INT, user_id INT, amount INT, note STRING, ts TIMESTAMP(3)) WITH ('connector' = 'kafka', 'topic' = '%s',
  'properties.bootstrap.servers' = '%s', 'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset', 'format' = 'json'%s);
`, name, topic, address, more)
	}
	data := b.TempDir()
	runScript(b, bin, data, fmt.Sprintf(`CREATE TABLE gen (order_id INT, user_id INT, amount INT, note STRING, ts TIMESTAMP(3)) WITH ('connector' = 'datagen',
  'rows-per-second' = '100000000', 'number-of-rows' = '%d', 'fields.user_id.min' = '1', 'fields.user_id.max' = '100000', 'fields.amount.min' = '1',
  'fields.amount.max' = '1000', 'fields.note.length' = '20');
%sINSERT INTO src SELECT * FROM gen;`, benchRows, table("src", "bench-in", "")))
	b.Run("json-to-blackhole", func(b *testing.B) {
		var cpu time.Duration
		for range b.N {
			cpu += runScript(b, bin, data, table("src", "bench-in", "")+
				"CREATE TABLE dst (order_id INT, user_id INT, amount INT, note STRING, ts TIMESTAMP(3)) WITH ('connector' = 'blackhole');\nINSERT INTO dst SELECT * FROM src;")
		}
		b.ReportMetric(float64(cpu.Nanoseconds())/float64(b.N*benchRows), "cpu-ns/row")
	})
	b.Run("json-to-json-exactly-once", func(b *testing.B) {
		var cpu time.Duration
		for i := range b.N {
			cpu += runScript(b, bin, data, "SET 'execution.checkpointing.interval' = '1 s';\n"+table("src", "bench-in", "")+
				table("dst", fmt.Sprintf("bench-out-%d-%d", b.N, i), ", 'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = 'bench'")+
				"INSERT INTO dst SELECT * FROM src;")
		}
		b.ReportMetric(float64(cpu.Nanoseconds())/float64(b.N*benchRows), "cpu-ns/row")
	})
}

// BenchmarkStart measures a whole run of the program, from the start of the process to its last byte.
func BenchmarkStart(b *testing.B) {
	bin := buildProgram(b)
	data := b.TempDir()
	b.Run("values", func(b *testing.B) {
		for b.Loop() {
			runScript(b, bin, data, "SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS t (id, name);")
		}
	})
	b.Run("shell", func(b *testing.B) {
		for b.Loop() {
			cmd := exec.Command(bin, "--data", data)
			cmd.Stdin = strings.NewReader("QUIT;\n")
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("%v\n%s", err, out)
			}
		}
	})
}
