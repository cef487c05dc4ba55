package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"runnel/connectors"
	"runnel/types"
)

// ask gives the status and the answer, whatever its shape.
func (r *rest) ask(path string) (int, any) {
	r.t.Helper()
	resp, err := http.Get(r.url + strings.ReplaceAll(path, ":job", r.job))
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		v = string(raw)
	}
	return resp.StatusCode, v
}

// metrics gives the values of a list of metrics by their names; kind is value, min, max ..
func (r *rest) metrics(path, kind string) map[string]string {
	r.t.Helper()
	status, v := r.ask(path)
	list, ok := v.([]any)
	if status != http.StatusOK || !ok {
		r.t.Fatalf("%s: %d %v", path, status, v)
	}
	m := map[string]string{}
	for _, x := range list {
		m[fmt.Sprint(at(x, "id"))] = fmt.Sprint(at(x, kind))
	}
	return m
}

// TestVertexCalls asks about the vertices and subtasks of a running job.
func TestVertexCalls(t *testing.T) {
	r := newRest(t)
	detail := r.until("/jobs/:job", "status-counts.RUNNING", is(2.0))
	source, agg := at(detail, "vertices.0.id").(string), at(detail, "vertices.1.id").(string)
	r.until("/jobs/:job", "vertices.1.metrics.read-records", func(v any) bool { n, ok := v.(float64); return ok && n > 0 })
	for _, c := range []struct {
		path, field string
		want        any
	}{
		{"/subtasktimes", "subtasks.1.timestamps.FINISHED", 0.0},
		{"/subtasktimes", "subtasks.1.subtask", 1.0},
		{"/taskmanagers", "taskmanagers.0.status-counts.RUNNING", 2.0},
		{"/taskmanagers", "taskmanagers.0.taskmanager-id", "local"},
		{"/accumulators", "user-accumulators", nil},
		{"/subtasks/accumulators", "subtasks.1.subtask", 1.0},
		{"/subtasks/1", "status", "RUNNING"},
		{"/subtasks/1/attempts/0", "attempt", 0.0},
		{"/subtasks/1/attempts/0/accumulators", "attempt", 0.0},
		{"/flamegraph", "endTimestamp", -2.0},
		{"/watermarks", "0.id", "0.currentInputWatermark"},
	} {
		status, v := r.ask("/jobs/:job/vertices/" + agg + c.path)
		if got := at(v, c.field); status != http.StatusOK || c.want != nil && got != c.want {
			t.Errorf("%s: %d, %s is %v, want %v", c.path, status, c.field, got, c.want)
		}
	}
	_, v := r.ask("/jobs/:job/vertices/" + agg + "/subtasktimes")
	if n, _ := at(v, "subtasks.0.timestamps.RUNNING").(float64); n < 1e12 {
		t.Errorf("subtasktimes: %v", v)
	}
	if _, v := r.ask("/jobs/:job/vertices/" + source + "/watermarks"); fmt.Sprint(v) != "[]" {
		t.Errorf("watermarks of a source: %v", v)
	}
	for _, path := range []string{"/subtasks/2", "/subtasks/-1", "/subtasks/0/attempts/7"} {
		if status, v := r.ask("/jobs/:job/vertices/" + agg + path); status != http.StatusNotFound {
			t.Errorf("%s: %d %v", path, status, v)
		}
	}
}

// TestMetrics asks for metrics in all their forms: names, values, of one subtask, of all in one number, of jobs and of
// the process.
func TestMetrics(t *testing.T) {
	r := newRest(t)
	detail := r.until("/jobs/:job", "status-counts.RUNNING", is(2.0))
	v := "/jobs/:job/vertices/" + at(detail, "vertices.1.id").(string)
	r.until("/jobs/:job", "vertices.1.metrics.read-records", func(v any) bool { n, ok := v.(float64); return ok && n >= 1000 })
	names := r.metrics(v+"/metrics", "id")
	for _, n := range []string{"0.numRecordsIn", "1.busyTimeMsPerSecond", "1.idleTimeMsPerSecond", "0.backPressuredTimeMsPerSecond",
		"0.currentInputWatermark", "0.numLateRecordsDropped", "0.GroupAggregate[3].numRecordsIn", "0.snk[4]:_Writer.numRecordsIn"} {
		if names[n] == "" {
			t.Errorf("no metric %s in %v", n, names)
		}
	}
	number := func(s string) float64 {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	// The job ends, so that the numbers stand still.
	r.call("PATCH", "/jobs/:job", "{}")
	r.until("/jobs/:job/status", "status", is("CANCELED"))
	both := r.metrics(v+"/metrics?get=0.numRecordsIn,1.numRecordsIn,nope", "value")
	a, b := number(both["0.numRecordsIn"]), number(both["1.numRecordsIn"])
	if len(both) != 2 || a+b < 1000 {
		t.Errorf("two subtasks: %v", both)
	}
	if one := r.metrics(v+"/subtasks/1/metrics?get=numRecordsIn", "value"); number(one["numRecordsIn"]) != b {
		t.Errorf("subtask 1: %v, want %v", one, b)
	}
	for kind, want := range map[string]float64{"sum": a + b, "min": min(a, b), "max": max(a, b), "avg": (a + b) / 2} {
		if got := r.metrics(v+"/subtasks/metrics?get=numRecordsIn", kind); number(got["numRecordsIn"]) != want {
			t.Errorf("%s: %v, want %v", kind, got, want)
		}
	}
	if got := r.metrics(v+"/subtasks/metrics?get=numRecordsIn&agg=max&subtasks=1-5", "max"); number(got["numRecordsIn"]) != b {
		t.Errorf("of subtask 1: %v", got)
	}
	if got := r.metrics(v+"/subtasks/metrics?get=numRecordsIn&agg=max", "sum"); got["numRecordsIn"] != "<nil>" {
		t.Errorf("a sum that was not asked for: %v", got)
	}
	if names := r.metrics(v+"/subtasks/metrics", "id"); names["numRecordsOutPerSecond"] == "" {
		t.Errorf("names %v", names)
	}
	for _, bad := range []string{v + "/subtasks/metrics?get=numRecordsIn&agg=median", v + "/subtasks/metrics?get=numRecordsIn&subtasks=x"} {
		if status, _ := r.ask(bad); status != http.StatusBadRequest {
			t.Errorf("%s: %d", bad, status)
		}
	}
	jobs := r.metrics("/jobs/:job/metrics?get=uptime,numRestarts,numberOfCompletedCheckpoints,lastCheckpointSize", "value")
	if fmt.Sprint(jobs) != "map[lastCheckpointSize:-1 numRestarts:0 numberOfCompletedCheckpoints:0 uptime:-1]" {
		t.Errorf("job: %v", jobs)
	}
	if all := r.metrics("/jobs/metrics?get=numRestarts&agg=sum", "sum"); all["numRestarts"] != "0" {
		t.Errorf("jobs: %v", all)
	}
	if p := r.metrics("/jobmanager/metrics?get=taskSlotsTotal,taskSlotsAvailable,numRunningJobs", "value"); fmt.Sprint(p) != "map[numRunningJobs:0 taskSlotsAvailable:4 taskSlotsTotal:4]" {
		t.Errorf("process: %v", p)
	}
	if p := r.metrics("/taskmanagers/metrics?get=taskSlotsTotal", "max"); p["taskSlotsTotal"] != "4" {
		t.Errorf("task managers: %v", p)
	}
}

// TestCheckpointMetrics: the numbers of checkpoints, and what each subtask did for one.
func TestCheckpointMetrics(t *testing.T) {
	r := newRest(t)
	detail := r.until("/jobs/:job", "status-counts.RUNNING", is(2.0))
	_, v := r.call("POST", "/jobs/:job/checkpoints", "{}")
	r.until("/jobs/:job/checkpoints/"+v["request-id"].(string), "status.id", is("COMPLETED"))
	m := r.metrics("/jobs/:job/metrics?get=numberOfCompletedCheckpoints,totalNumberOfCheckpoints,lastCompletedCheckpointId,numberOfFailedCheckpoints", "value")
	if fmt.Sprint(m) != "map[lastCompletedCheckpointId:1 numberOfCompletedCheckpoints:1 numberOfFailedCheckpoints:0 totalNumberOfCheckpoints:1]" {
		t.Errorf("metrics %v", m)
	}
	status, c := r.ask("/jobs/:job/checkpoints/details/1/subtasks/" + at(detail, "vertices.1.id").(string))
	if status != http.StatusOK || at(c, "subtasks.1.status") != "completed" || at(c, "num_acknowledged_subtasks") != 2.0 || at(c, "summary.alignment.duration.min") == nil {
		t.Errorf("%d %v", status, c)
	}
	_, c = r.ask("/jobs/:job/checkpoints/config")
	if at(c, "mode") != "exactly_once" || at(c, "timeout") != 600000.0 || at(c, "unaligned_checkpoints") != false || at(c, "externalization.enabled") != false {
		t.Errorf("config %v", c)
	}
}

// TestManagerCalls asks about the process.
func TestManagerCalls(t *testing.T) {
	r := newRest(t)
	r.until("/jobs/:job", "status-counts.RUNNING", is(2.0))
	for _, c := range []struct {
		path, field string
		want        any
	}{
		{"/jobmanager/logs", "logs.0.name", "runnel.log"},
		{"/taskmanagers/local/logs", "logs.0.size", 6.0},
		{"/taskmanagers", "taskmanagers.0.id", "local"},
		{"/taskmanagers", "taskmanagers.0.freeSlots", 2.0},
		{"/taskmanagers/local", "slotsNumber", 4.0},
		{"/taskmanagers/local", "allocatedSlots.1.jobId", r.job},
		{"/jobs/:job/resource-requirements", "x", nil},
		{"/jobs/:job/execution-result", "status.id", "IN_PROGRESS"},
	} {
		status, v := r.ask(c.path)
		if got := at(v, c.field); status != http.StatusOK || got != c.want {
			t.Errorf("%s: %d, %s is %v, want %v", c.path, status, c.field, got, c.want)
		}
	}
	for path, want := range map[string]string{"/jobmanager/log": "hello\n", "/v1/taskmanagers/local/logs/runnel.log": "hello\n", "/jobmanager/stdout": "Print sinks write to the standard output of the runnel process.\n"} {
		if status, v := r.ask(path); status != http.StatusOK || v != want {
			t.Errorf("%s: %d %v", path, status, v)
		}
	}
	for _, path := range []string{"/jobmanager/logs/other.txt", "/jobmanager/logs/..%2fother.txt", "/taskmanagers/container_7"} {
		if status, v := r.ask(path); status != http.StatusNotFound {
			t.Errorf("%s: %d %v", path, status, v)
		}
	}
	if _, v := r.ask("/jobmanager/environment"); !strings.HasPrefix(fmt.Sprint(at(v, "jvm.version")), "go") {
		t.Errorf("environment: %v", v)
	}
	if _, v := r.ask("/jobmanager/thread-dump"); !strings.Contains(fmt.Sprint(v), "threadDump") {
		t.Errorf("thread dump: %.200v", v)
	}
	if status, v := r.call("PUT", "/jobs/:job/resource-requirements", "{}"); status != http.StatusServiceUnavailable || !strings.Contains(fmt.Sprint(v), "Stop it with a savepoint") {
		t.Errorf("rescale: %d %v", status, v)
	}
}

// TestDisposal removes a savepoint, and nothing else.
func TestDisposal(t *testing.T) {
	r := newRest(t)
	r.until("/jobs/:job", "status-counts.RUNNING", is(2.0))
	dispose := func(path string) any {
		t.Helper()
		status, v := r.call("POST", "/savepoint-disposal", `{"savepoint-path":`+strconv.Quote(path)+`}`)
		if status != http.StatusOK {
			t.Fatalf("%d %v", status, v)
		}
		return at(r.until("/savepoint-disposal/"+v["request-id"].(string), "status.id", is("COMPLETED")), "operation.failure-cause.stack-trace")
	}
	_, v := r.call("POST", "/jobs/:job/savepoints", `{"target-directory":`+strconv.Quote(r.dir)+`}`)
	path := at(r.until("/jobs/:job/savepoints/"+v["request-id"].(string), "status.id", is("COMPLETED")), "operation.location").(string)
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	if why := dispose(path); why != nil {
		t.Error(why)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the savepoint is still there")
	}
	if why := dispose(path); !strings.Contains(fmt.Sprint(why), "disposing of a savepoint") {
		t.Errorf("once more: %v", why)
	}
	other := filepath.Join(r.dir, "mine")
	if err := os.MkdirAll(other, 0o700); err != nil {
		t.Fatal(err)
	}
	if why := dispose(other); why == nil {
		t.Error("a directory that is no savepoint was taken")
	}
	if _, err := os.Stat(other); err != nil {
		t.Error("a directory that is no savepoint is gone")
	}
	if status, _ := r.call("POST", "/savepoint-disposal", "{}"); status != http.StatusBadRequest {
		t.Errorf("without a path: %d", status)
	}
}

// TestExceptions: what a failed job leaves behind.
func TestExceptions(t *testing.T) {
	r := newRest(t)
	r.run("CREATE TABLE bad (s STRING) WITH ('connector' = 'datagen', 'rows-per-second' = '10', 'fields.s.length' = '3')",
		"CREATE TABLE ints (i INT) WITH ('connector' = 'blackhole')", "INSERT INTO ints SELECT CAST('x' || s AS INT) FROM bad")
	v := r.until("/jobs/:job/execution-result", "status.id", is("COMPLETED"))
	if at(v, "job-execution-result.application-status") != "FAILED" || !strings.Contains(fmt.Sprint(at(v, "job-execution-result.failure-cause.stack-trace")), "For input string") {
		t.Errorf("result %v", v)
	}
	_, e := r.ask("/jobs/:job/exceptions?maxExceptions=1")
	if s := fmt.Sprint(at(e, "exceptionHistory.entries.0.stacktrace")); !strings.Contains(s, "For input string") || at(e, "root-exception") != s {
		t.Errorf("exceptions %v", e)
	}
	if task := fmt.Sprint(at(e, "exceptionHistory.entries.0.taskName")); !strings.HasPrefix(task, "Source: bad") {
		t.Errorf("task %s", task)
	}
	if n, _ := at(e, "exceptionHistory.entries.0.timestamp").(float64); time.Since(time.UnixMilli(int64(n))) > time.Hour {
		t.Errorf("time %v", n)
	}
	if _, e := r.ask("/jobs/:job/exceptions?maxExceptions=0"); at(e, "truncated") != true {
		t.Errorf("none of one: %v", e)
	}
}

// slowSink takes its time for each batch.
type slowSink struct{}

func (slowSink) Write(ctx context.Context, _ *types.Batch) error {
	select {
	case <-time.After(20 * time.Millisecond):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (slowSink) Prepare(context.Context, int64) ([][]byte, []byte, error) { return nil, nil, nil }
func (slowSink) Close() error                                             { return nil }

func slow() connectors.Connector {
	return connectors.Connector{Name: "slow", Sink: func(r connectors.SinkRequest) (*connectors.Sink, error) {
		return &connectors.Sink{Mode: r.Query, Open: func(context.Context, connectors.SinkEnv) (connectors.Writer, error) { return slowSink{}, nil }}, nil
	}}
}

// TestBackpressure: with a slow sink the source is held up and the sink is busy; with a slow source both are idle.
func TestBackpressure(t *testing.T) {
	r := newRest(t)
	times := func(vertex string) {
		t.Helper()
		var busy, idle, held float64
		m := r.metrics("/jobs/:job/vertices/"+vertex+"/subtasks/metrics?get=busyTimeMsPerSecond,idleTimeMsPerSecond,backPressuredTimeMsPerSecond&agg=avg", "avg")
		for name, to := range map[string]*float64{"busyTimeMsPerSecond": &busy, "idleTimeMsPerSecond": &idle, "backPressuredTimeMsPerSecond": &held} {
			var err error
			if *to, err = strconv.ParseFloat(m[name], 64); err != nil {
				t.Fatal(err)
			}
		}
		if sum := busy + idle + held; sum < 900 || sum > 1100 {
			t.Errorf("%g busy, %g idle and %g held up are %g ms of a second", busy, idle, held, sum)
		}
	}
	detail := r.until("/jobs/:job", "status-counts.RUNNING", is(2.0))
	over := func(v any) bool { n, ok := v.(float64); return ok && n > 0.5 }
	r.until("/jobs/:job/vertices/"+at(detail, "vertices.1.id").(string)+"/backpressure", "subtasks.0.idleRatio", over)
	r.run("CREATE TABLE much (k INT) WITH ('connector' = 'datagen', 'rows-per-second' = '100000000')",
		"CREATE TABLE slow_sink (k INT, c BIGINT) WITH ('connector' = 'slow')", "INSERT INTO slow_sink SELECT k, COUNT(*) FROM much GROUP BY k")
	detail = r.until("/jobs/:job", "status-counts.RUNNING", is(2.0))
	source, sink := at(detail, "vertices.0.id").(string), at(detail, "vertices.1.id").(string)
	r.until("/jobs/:job/vertices/"+source+"/backpressure", "backpressureLevel", is("high"))
	r.until("/jobs/:job/vertices/"+sink+"/backpressure", "subtasks.0.busyRatio", over)
	if _, v := r.ask("/jobs/:job/vertices/" + sink + "/backpressure"); at(v, "backpressureLevel") != "ok" {
		t.Errorf("the sink: %v", v)
	}
	times(source)
	times(sink)
}

// TestJobFields: what the dashboard shows of a job beside what Flink's own shows.
func TestJobFields(t *testing.T) {
	r := newRest(t)
	v := r.until("/jobs/:job", "vertices.1.load.busy", func(v any) bool { return v != nil && v != "N/A" })
	if at(v, "job-type") != "STREAMING" || at(v, "restarts") != 0.0 || !strings.HasPrefix(fmt.Sprint(at(v, "sql")), "INSERT INTO snk") || at(v, "failure") != nil {
		t.Errorf("what the page shows: %v", v)
	}
	r.run("SET 'parallelism.default' = '9'", "INSERT INTO snk SELECT k, COUNT(*) FROM src GROUP BY k")
	if _, v := r.ask("/jobs/:job"); !strings.Contains(fmt.Sprint(at(v, "waiting")), "needs 9 slots") || at(v, "vertices.0.load.busy") != "N/A" {
		t.Errorf("a job that waits: %v", v)
	} else if _, wm := r.ask("/jobs/:job/vertices/" + at(v, "vertices.1.id").(string) + "/watermarks"); at(wm, "8.value") != "-9223372036854775808" {
		t.Errorf("watermarks of a job that waits: %v", wm)
	}
	r.run("SET 'parallelism.default' = '1'", "CREATE TABLE three (s STRING) WITH ('connector' = 'datagen', 'number-of-rows' = '3')", "CREATE TABLE ints (i INT) WITH ('connector' = 'blackhole')",
		"SET 'execution.runtime-mode' = 'batch'", "INSERT INTO ints SELECT CAST('x' || s AS INT) FROM three")
	v = r.until("/jobs/:job", "state", is("FAILED"))
	if at(v, "job-type") != "BATCH" || !strings.Contains(fmt.Sprint(at(v, "failure")), "For input string") || !strings.Contains(fmt.Sprint(at(v, "cure")), "TRY_CAST") {
		t.Errorf("a batch job that failed: %v", v)
	}
}
