package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"runnel/catalog"
	"runnel/connectors"
	"runnel/connectors/blackhole"
	"runnel/connectors/datagen"
	"runnel/exec"
	"runnel/session"
	"runnel/web"
)

// TestRemote: the subcommands against a running job print what Flink's command line prints.
func TestRemote(t *testing.T) {
	dir := t.TempDir()
	config := catalog.NewConfig()
	cluster := exec.New(exec.Options{Slots: 2, Dir: dir})
	s := session.New(session.Options{Catalog: catalog.New(), Config: config, Connectors: []connectors.Connector{datagen.Connector(), blackhole.Connector()},
		Cluster: func() (*exec.Cluster, error) { return cluster, nil }})
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	server := web.New(web.Options{Cluster: cluster, Config: config, Log: slog.New(slog.DiscardHandler), Version: "test"})
	server.Serve(l)
	defer func() {
		if err := errors.Join(server.Close(), cluster.Close(context.Background())); err != nil {
			t.Error(err)
		}
	}()
	command := func(want int, args ...string) string {
		t.Helper()
		var out, errOut bytes.Buffer
		if got := runRemote(args[0], append(args[1:], "-m", l.Addr().String()), &out, &errOut); got != want {
			t.Errorf("%v: exit code %d, want %d: %s%s", args, got, want, &out, &errOut)
		}
		return out.String() + errOut.String()
	}
	expect := func(got, pattern string) {
		t.Helper()
		if !regexp.MustCompile("^" + pattern + "$").MatchString(got) {
			t.Errorf("got\n%swant\n%s", got, pattern)
		}
	}
	expect(command(0, "list"), "Waiting for response...\nNo running jobs.\nNo scheduled jobs.\n")
	var id string
	for _, text := range []string{"CREATE TABLE src (k INT) WITH ('connector' = 'datagen')", "CREATE TABLE snk (k INT) WITH ('connector' = 'blackhole')",
		"SET 'pipeline.name' = 'mine'", "INSERT INTO snk SELECT k FROM src"} {
		res, err := s.Execute(context.Background(), text)
		if err != nil {
			t.Fatal(err)
		}
		id = res.JobID
	}
	for deadline := time.Now().Add(time.Minute); !strings.Contains(command(0, "list", "-r"), "(RUNNING)"); {
		if time.Now().After(deadline) {
			t.Fatal(command(0, "list"))
		}
		time.Sleep(5 * time.Millisecond)
	}
	line := `\d\d\.\d\d\.\d{4} \d\d:\d\d:\d\d : ` + id + ` : mine \(%s\)\n-{62}\n`
	expect(command(0, "list"), "Waiting for response...\n-{18} Running/Restarting Jobs -{19}\n"+fmt.Sprintf(line, "RUNNING")+"No scheduled jobs.\n")
	expect(command(0, "list", "-s"), "Waiting for response...\nNo scheduled jobs.\n")
	expect(command(0, "checkpoint", id), "Triggering checkpoint for job "+id+".\nWaiting for response...\nCheckpoint 1 for job "+id+" completed.\n")

	target := filepath.Join(dir, "sp")
	said := command(0, "savepoint", id, target)
	expect(said, "Triggering savepoint for job "+id+".\nWaiting for response...\nSavepoint completed. Path: "+regexp.QuoteMeta(target)+"/savepoint-\\S+\nResume from it with: .*\n")
	path := regexp.MustCompile(`Path: (\S+)`).FindStringSubmatch(said)[1]
	expect(command(0, "savepoint", "-d", path), "Disposing savepoint '"+path+"'.\nWaiting for response...\nSavepoint '"+path+"' disposed.\n")
	if _, err := os.Stat(path); err == nil {
		t.Error("the savepoint is still there")
	}
	expect(command(1, "savepoint", "-d", path), "(?s).*runnel savepoint: disposing of a savepoint: .*")

	expect(command(0, "stop", "--savepoint", target, id), "Triggering stop-with-savepoint for job "+id+".\nWaiting for response...\nSavepoint completed. Path: "+regexp.QuoteMeta(target)+"/savepoint-\\S+\n")
	expect(command(1, "stop", "--savepoint", target, id), "(?s).*runnel stop: .* is FINISHED; there is nothing left to do\n")
	expect(command(1, "cancel", id), "(?s)Cancelling job "+id+".\nrunnel cancel: .*already reached another terminal state \\(FINISHED\\).\n")
	expect(command(0, "list", "-a"), "Waiting for response...\nNo running jobs.\nNo scheduled jobs.\n-{22} Terminated Jobs -{23}\n"+fmt.Sprintf(line, "FINISHED"))
	expect(command(2, "cancel"), "wrong usage: .*\n")
}

// TestRestPorts: the ports that are tried, in order.
func TestRestPorts(t *testing.T) {
	for text, want := range map[string]string{"": "[8081]", "9000": "[9000]", "9000, 50100-50102": "[9000 50100 50101 50102]", "0": "[0]"} {
		c := catalog.NewConfig()
		if text != "" {
			if _, err := c.Set("rest.bind-port", text); err != nil {
				t.Fatal(err)
			}
		}
		if got := fmt.Sprint(restPorts(c)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if _, err := catalog.NewConfig().Set("rest.bind-port", "http"); err == nil {
		t.Error("a word was taken for a port")
	}
}
