package web_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestDashboard fetches the page with all that belongs to it, and finds in the answers of the REST interface what its script reads.
func TestDashboard(t *testing.T) {
	r := newRest(t)
	get := func(path string) (string, http.Header) {
		t.Helper()
		resp, err := http.Get(r.url + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %v", path, resp.StatusCode, err)
		}
		return string(b), resp.Header
	}
	page, h := get("/")
	if h.Get("Content-Type") != "text/html; charset=UTF-8" || !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'self'") {
		t.Errorf("headers %v", h)
	}
	for name, kind := range map[string]string{"style.css": "text/css", "dashboard.js": "text/javascript"} {
		if _, h := get("/" + name); !strings.HasPrefix(h.Get("Content-Type"), kind) || !strings.Contains(page, `"`+name+`"`) {
			t.Errorf("%s: %v", name, h)
		}
	}
	script, _ := get("/dashboard.js")
	r.until("/jobs/:job", "vertices.1.status", is("RUNNING"))
	if status, _ := r.call("POST", "/jobs/:job/savepoints", `{"target-directory": "`+r.dir+`/sp"}`); status != http.StatusAccepted {
		t.Fatalf("savepoint: %d", status)
	}
	r.until("/jobs/:job/checkpoints", "history.0.status", is("COMPLETED"))
	for path, fields := range map[string]string{
		"/config":                "refresh-interval",
		"/overview":              "slots-available slots-total jobs-running jobs-finished jobs-cancelled jobs-failed",
		"/jobs/overview":         "jobs.0.jid jobs.0.name jobs.0.state jobs.0.start-time jobs.0.end-time jobs.0.duration jobs.0.tasks.running jobs.0.tasks.total",
		"/jobs/:job":             "state name now job-type start-time end-time duration plan.nodes.0.description plan.nodes.0.inputs.0.id plan.nodes.0.inputs.0.ship_strategy vertices.0.parallelism vertices.0.status vertices.0.name vertices.0.metrics.read-records vertices.0.metrics.write-records vertices.0.load.busy vertices.0.load.backpressured vertices.0.load.colour vertices.0.load.ink sql",
		"/jobs/:job/checkpoints": "counts.completed counts.failed counts.in_progress counts.restored history.0.id history.0.is_savepoint history.0.trigger_timestamp history.0.end_to_end_duration history.0.checkpointed_size history.0.state_size history.0.external_path history.0.discarded",
		"/jobs/:job/exceptions":  "exceptionHistory.entries",
	} {
		_, answer := r.call("GET", path, "")
		for _, f := range strings.Fields(fields) {
			if last := f[strings.LastIndex(f, ".")+1:]; at(answer, f) == nil || !strings.Contains(script, last) {
				t.Errorf("%s: %s is %v; the script reads it: %t", path, f, at(answer, f), strings.Contains(script, last))
			}
		}
	}
	names := r.metricNames()
	for _, n := range []string{"numRecordsInPerSecond", "numRecordsOutPerSecond", "currentInputWatermark"} {
		if !names["0."+n] || !names["1."+n] || !strings.Contains(script, "'"+n+"'") {
			t.Errorf("no metric %s", n)
		}
	}
}

// metricNames are the metrics of the first vertex.
func (r *rest) metricNames() map[string]bool {
	r.t.Helper()
	_, job := r.call("GET", "/jobs/:job", "")
	id, _ := at(job, "vertices.0.id").(string)
	resp, err := http.Get(r.url + "/jobs/" + r.job + "/vertices/" + id + "/metrics")
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	names := map[string]bool{}
	for _, part := range strings.Split(string(b), `"id":"`)[1:] {
		name, _, _ := strings.Cut(part, `"`)
		names[name] = true
	}
	return names
}
