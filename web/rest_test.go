package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
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

// rest is a server over a cluster with one endless job.
type rest struct {
	t       *testing.T
	url     string
	cluster *exec.Cluster
	config  *catalog.Config
	session *session.Session
	job     string // the newest
	dir     string
}

func newRest(t *testing.T) *rest {
	r := &rest{t: t, dir: t.TempDir(), config: catalog.NewConfig()}
	r.cluster = exec.New(exec.Options{Slots: 4, Dir: r.dir})
	r.session = session.New(session.Options{
		Catalog: catalog.New(), Config: r.config, Connectors: []connectors.Connector{datagen.Connector(), blackhole.Connector(), slow()},
		Cluster: func() (*exec.Cluster, error) { return r.cluster, nil },
	})
	r.run(
		"SET 'parallelism.default' = '2'",
		"SET 'my.secret.password' = 'open sesame'",
		"CREATE TABLE src (k INT, v INT) WITH ('connector' = 'datagen', 'rows-per-second' = '1000', 'fields.k.max' = '9', 'fields.k.min' = '0')",
		"CREATE TABLE snk (k INT, c BIGINT) WITH ('connector' = 'blackhole')",
		"INSERT INTO snk SELECT k, COUNT(*) FROM src GROUP BY k",
	)
	log := filepath.Join(r.dir, "runnel.log")
	if err := os.WriteFile(log, []byte("hello\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	r.url = "http://" + l.Addr().String()
	server := web.New(web.Options{Cluster: r.cluster, Config: r.config, Log: slog.New(slog.DiscardHandler), Version: "test", Logs: []string{log}})
	server.Serve(l)
	t.Cleanup(func() {
		if err := errors.Join(server.Close(), r.cluster.Close(context.Background())); err != nil {
			t.Error(err)
		}
	})
	return r
}

// run executes statements.
func (r *rest) run(statements ...string) {
	r.t.Helper()
	for _, text := range statements {
		res, err := r.session.Execute(context.Background(), text)
		if err != nil {
			r.t.Fatal(err)
		}
		if res.JobID != "" {
			r.job = res.JobID
		}
	}
}

// call gives the status and the answer.
func (r *rest) call(method, path, body string) (int, map[string]any) {
	r.t.Helper()
	req, err := http.NewRequest(method, r.url+strings.ReplaceAll(path, ":job", r.job), strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(raw, &v); err != nil {
		r.t.Fatalf("%s %s: %v: %s", method, path, err, raw)
	}
	return resp.StatusCode, v
}

// at follows a path such as jobs.0.state through an answer.
func at(v any, path string) any {
	for _, p := range strings.Split(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[p]
		case []any:
			if i := int(p[0] - '0'); i < len(x) {
				v = x[i]
				continue
			}
			return nil
		default:
			return nil
		}
	}
	return v
}

// until asks again until the value at the path is as wanted.
func (r *rest) until(path, field string, want func(any) bool) map[string]any {
	r.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		status, v := r.call("GET", path, "")
		if status == http.StatusOK && want(at(v, field)) {
			return v
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("%s: %s is %v: %d %v", path, field, at(v, field), status, v)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func is(want any) func(any) bool { return func(v any) bool { return v == want } }

// TestJobCalls asks about a running job all that can be asked, with and without the version in front.
func TestJobCalls(t *testing.T) {
	r := newRest(t)
	r.until("/jobs/:job/status", "status", is("RUNNING"))
	detail := r.until("/jobs/:job", "status-counts.RUNNING", is(2.0))
	vertex := at(detail, "vertices.1.id").(string)
	r.until("/jobs/:job", "vertices.1.metrics.read-records", func(v any) bool { n, ok := v.(float64); return ok && n > 0 })
	for _, c := range []struct {
		path, field string
		want        any
	}{
		{"/config", "flink-version", "1.20.5"},
		{"/config", "features.web-submit", false},
		{"/overview", "slots-total", 4.0},
		{"/overview", "slots-available", 2.0},
		{"/overview", "jobs-running", 1.0},
		{"/v1/overview", "jobs-running", 1.0},
		{"/jobs", "jobs.0.status", "RUNNING"},
		{"/jobs/overview", "jobs.0.jid", r.job},
		{"/v1/jobs/overview", "jobs.0.tasks.total", 4.0},
		{"/jobs/overview", "jobs.0.end-time", -1.0},
		{"/jobs/:job", "job-type", "STREAMING"},
		{"/jobs/:job", "isStoppable", false},
		{"/jobs/:job", "timestamps.FINISHED", 0.0},
		{"/jobs/:job", "vertices.0.parallelism", 2.0},
		{"/jobs/:job/plan", "plan.nodes.0.inputs.0.ship_strategy", "HASH"},
		{"/jobs/:job/config", "execution-config.job-parallelism", 2.0},
		{"/jobs/:job/exceptions", "root-exception", nil},
		{"/jobs/:job/vertices/" + vertex, "subtasks.1.subtask", 1.0},
		{"/jobs/:job/vertices/" + vertex + "/backpressure", "subtasks.0.subtask", 0.0},
	} {
		status, v := r.call("GET", c.path, "{}") // Flink's own clients send a body with GET, too
		if got := at(v, c.field); status != http.StatusOK || got != c.want {
			t.Errorf("%s: %d, %s is %v, want %v", c.path, status, c.field, got, c.want)
		}
	}
}

// TestSecretsStayHidden asks for the settings.
func TestSecretsStayHidden(t *testing.T) {
	r := newRest(t)
	for _, path := range []string{"/jobmanager/config", "/jobs/" + r.job + "/config"} {
		resp, err := http.Get(r.url + path)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK || len(raw) < 10 {
			t.Fatalf("%s: %d %v %s", path, resp.StatusCode, err, raw)
		}
		if strings.Contains(string(raw), "sesame") {
			t.Errorf("%s shows a password: %s", path, raw)
		}
	}
}

// TestSavepointsAndStop takes a checkpoint and a savepoint, stops the job with another, and asks what became of them.
func TestSavepointsAndStop(t *testing.T) {
	r := newRest(t)
	r.until("/jobs/:job", "status-counts.RUNNING", is(2.0))
	begin := func(path, body string) string {
		t.Helper()
		status, v := r.call("POST", "/v1/jobs/:job/"+path, body)
		id, _ := v["request-id"].(string)
		if status != http.StatusAccepted || id == "" {
			t.Fatalf("%s: %d %v", path, status, v)
		}
		return id
	}
	v := r.until("/jobs/:job/checkpoints/"+begin("checkpoints", "{}"), "status.id", is("COMPLETED"))
	if at(v, "operation.checkpointId") != 1.0 {
		t.Errorf("checkpoint: %v", v)
	}
	target := filepath.Join(r.dir, "sp")
	v = r.until("/jobs/:job/savepoints/"+begin("savepoints", `{"target-directory":"`+target+`","cancel-job":false,"formatType":"CANONICAL","triggerId":null}`), "status.id", is("COMPLETED"))
	if path, _ := at(v, "operation.location").(string); !strings.HasPrefix(path, target) {
		t.Errorf("savepoint: %v", v)
	}
	v = r.until("/jobs/:job/savepoints/"+begin("savepoints", `{"target-directory":"/dev/null/no"}`), "status.id", is("COMPLETED"))
	if why, _ := at(v, "operation.failure-cause.stack-trace").(string); !strings.Contains(why, "/dev/null: not a directory") {
		t.Errorf("savepoint to nowhere: %v", v)
	}
	v = r.until("/jobs/:job/savepoints/"+begin("stop", `{"targetDirectory":"`+target+`","drain":false}`), "status.id", is("COMPLETED"))
	if path, _ := at(v, "operation.location").(string); !strings.HasPrefix(path, target) {
		t.Errorf("stop: %v", v)
	}
	r.until("/jobs/:job/status", "status", is("FINISHED"))
	for _, c := range []struct {
		field string
		want  any
	}{
		{"counts.completed", 3.0}, {"counts.failed", 1.0}, {"latest.savepoint.is_savepoint", true}, {"latest.completed.id", 1.0},
	} {
		if _, v := r.call("GET", "/jobs/:job/checkpoints", ""); at(v, c.field) != c.want {
			t.Errorf("checkpoints: %s is %v, want %v", c.field, at(v, c.field), c.want)
		}
	}
	if status, v := r.call("PATCH", "/jobs/:job?mode=cancel", "{}"); status != http.StatusConflict {
		t.Errorf("cancel of a finished job: %d %v", status, v)
	}
}

// TestCancel cancels twice, as an impatient user does.
func TestCancel(t *testing.T) {
	r := newRest(t)
	for range 2 {
		if status, v := r.call("PATCH", "/v1/jobs/:job?mode=cancel", "{}"); status != http.StatusAccepted || len(v) != 0 {
			t.Errorf("cancel: %d %v", status, v)
		}
	}
	r.until("/jobs/:job/status", "status", is("CANCELED"))
	// A button of Flink's page calls another path.
	if status, v := r.call("GET", "/jobs/:job/yarn-cancel", ""); status != http.StatusAccepted {
		t.Errorf("by the other path: %d %v", status, v)
	}
	_, v := r.call("GET", "/overview", "")
	if at(v, "jobs-cancelled") != 1.0 || at(v, "slots-available") != 4.0 {
		t.Errorf("overview: %v", v)
	}
}

// TestBadCalls gets a clear refusal for each call that cannot be answered, in the form that Flink's clients read.
func TestBadCalls(t *testing.T) {
	r := newRest(t)
	other := strings.Repeat("0", 32)
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"GET", "/nope", "", 404, `Unable to load requested file /nope\.`},
		{"GET", "/jobs/xyz", "", 400, `could not parse parameters: Cannot resolve path parameter \(jobid\) from value "xyz"`},
		{"GET", "/jobs/" + other, "", 404, "NotFoundException: Job " + other + " not found"},
		{"GET", "/jobs/:job/vertices/" + other, "", 404, "JobVertex " + other + " not found"},
		{"GET", "/jobs/:job/checkpoints/details/77", "", 404, "77"},
		{"GET", "/jobs/:job/checkpoints/details/x", "", 400, "x"},
		{"GET", "/jobs/:job/savepoints/" + other, "", 404, "no savepoint operation with triggerId=" + other},
		{"POST", "/jobs/:job/savepoints", "{", 400, "Request did not match expected format"},
		{"POST", "/jobs/:job/savepoints", "{}", 400, `Config key \[execution.checkpointing.savepoint-dir\] is not set`},
		{"POST", "/jobs/:job/stop", `{"targetDirectory":5}`, 400, "Request did not match expected format"},
		{"POST", "/jobs/:job/stop", `"` + strings.Repeat("x", 1<<20) + `"`, 400, "too large"},
		{"PATCH", "/jobs/:job?mode=stop", "", 308, `The termination mode "stop" has been removed`},
		{"PATCH", "/jobs/:job?mode=explode", "", 400, "explode"},
		{"DELETE", "/jobs/:job", "", 404, "Unable to load requested file"},
	} {
		status, v := r.call(c.method, c.path, c.body)
		text, _ := at(v, "errors.0").(string)
		if status != c.status || len(v) != 1 || !regexp.MustCompile(c.want).MatchString(text) {
			t.Errorf("%s %s: %d %v, want %d %s", c.method, c.path, status, v, c.status, c.want)
		}
		if !strings.Contains(text, "\n\tat ") {
			t.Errorf("%s %s: clients look for the beginning of a stack: %q", c.method, c.path, text)
		}
	}
}
