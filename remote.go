package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"time"
)

// restFile says in the data directory where the REST port of its process is.
const restFile = "rest.json"

// remoteCommands are the subcommands that talk to a running process over its REST port.
var remoteCommands = map[string]func(*remote, []string) error{
	"list": (*remote).list, "cancel": (*remote).cancel, "savepoint": (*remote).savepoint, "checkpoint": (*remote).checkpoint, "stop": (*remote).stop,
}

// remote is a client of a JobManager's REST interface, ours or Flink's.
type remote struct {
	base   string
	out    io.Writer
	client http.Client
}

func runRemote(name string, args []string, out, errOut io.Writer) int {
	err := func() error {
		r := &remote{out: out, client: http.Client{Timeout: 30 * time.Second}}
		return remoteCommands[name](r, args)
	}()
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, flag.ErrHelp):
		io.WriteString(out, usageText)
		return exitOK
	case errors.Is(err, errUsage):
		fmt.Fprintln(errOut, err)
		return exitUsage
	}
	fmt.Fprintln(errOut, "runnel "+name+":", err)
	return exitFailed
}

// parse reads the flags of a subcommand and finds the server.
func (r *remote) parse(name string, args []string, more func(*flag.FlagSet), words int) ([]string, error) {
	set := flag.NewFlagSet(name, flag.ContinueOnError)
	set.SetOutput(io.Discard)
	server := set.String("m", "", "")
	data := set.String("data", "", "")
	if more != nil {
		more(set)
	}
	// Flags may stand behind words, as in: stop JOB --savepoint DIR.
	var got []string
	for len(args) > 0 {
		if err := set.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return nil, err
			}
			return nil, fmt.Errorf("%w: %v", errUsage, err)
		}
		args = set.Args()
		if len(args) > 0 {
			got, args = append(got, args[0]), args[1:]
		}
	}
	if len(got) > words || (words > 0 && len(got) == 0) {
		return nil, fmt.Errorf("%w: %s; runnel -h shows the commands", errUsage, name)
	}
	if *server != "" {
		r.base = "http://" + *server + "/v1"
		return got, nil
	}
	dir := *data
	if dir == "" {
		var err error
		if dir, err = defaultDataDir(); err != nil {
			return nil, err
		}
	}
	b, err := os.ReadFile(filepath.Join(dir, restFile))
	if err != nil || !inUse(dir) {
		return nil, fmt.Errorf("no runnel is running on data directory %s: start one, name another directory with --data DIR or a server with -m host:port", dir)
	}
	var at struct{ Address string }
	if err := json.Unmarshal(b, &at); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, restFile), err)
	}
	r.base = "http://" + at.Address + "/v1"
	return got, nil
}

// call makes one request; into may be nil.
func (r *remote) call(method, path string, body, into any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, r.base+path, bytes.NewReader(b))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json; charset=UTF-8")
	resp, err := r.client.Do(req)
	if err != nil {
		return fmt.Errorf("no answer from %s: %w", r.base, err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 64<<20))
	if err != nil {
		return err
	}
	if resp.StatusCode >= 300 {
		var e struct{ Errors []string }
		if json.Unmarshal(answer, &e) == nil && len(e.Errors) > 0 {
			return said(e.Errors[len(e.Errors)-1])
		}
		return fmt.Errorf("%s: %s", resp.Status, bytes.TrimSpace(answer))
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer, into)
}

// said is the error of a server without the name of its Java class and the trace behind it.
func said(trace string) error {
	msg, _, _ := strings.Cut(trace, "\n\tat ")
	if class, rest, ok := strings.Cut(msg, ": "); ok && strings.Contains(class, ".") && !strings.ContainsAny(class, " /") {
		msg = rest
	}
	if strings.Contains(msg, "[target-directory]") {
		msg = "no directory for savepoints is set: name one (runnel savepoint JOB DIR, runnel stop --savepoint DIR JOB), or set execution.checkpointing.savepoint-dir where the job runs"
	}
	return errors.New(msg)
}

// remoteJob is a job as the server tells of it.
type remoteJob struct {
	ID    string `json:"jid"`
	Name  string `json:"name"`
	State string `json:"state"`
	Start int64  `json:"start-time"`
}

// jobs gives all jobs of the server, the oldest first.
func (r *remote) jobs() ([]remoteJob, error) {
	var all struct {
		Jobs []remoteJob `json:"jobs"`
	}
	if err := r.call("GET", "/jobs/overview", struct{}{}, &all); err != nil {
		return nil, err
	}
	sort.Slice(all.Jobs, func(i, j int) bool { return all.Jobs[i].Start < all.Jobs[j].Start })
	return all.Jobs, nil
}

// endedStates are the states that a job does not leave.
var endedStates = []string{"FINISHED", "CANCELED", "FAILED"}

var wholeJobID = regexp.MustCompile(`^[0-9a-f]{32}$`)

// job gives the id of the job that a user names: by its id, by the beginning of its id, or by its name or the end of it.
func (r *remote) job(word string) (string, error) {
	if wholeJobID.MatchString(word) {
		return word, nil
	}
	all, err := r.jobs()
	if err != nil {
		return "", err
	}
	var found, lines []string
	for _, j := range all {
		if slices.Contains(endedStates, j.State) {
			continue
		}
		lines = append(lines, fmt.Sprintf("\n  %s %s (%s)", j.ID, j.Name, j.State))
		if len(word) >= 4 && strings.HasPrefix(j.ID, word) || j.Name == word || strings.HasSuffix(j.Name, "."+word) {
			found = append(found, j.ID)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "", fmt.Errorf("'%s' is more than one job; name it by its id:%s", word, strings.Join(lines, ""))
	case len(lines) == 0:
		return "", fmt.Errorf("no job '%s': no job is running", word)
	}
	return "", fmt.Errorf("no job '%s'; these are running:%s", word, strings.Join(lines, ""))
}

func (r *remote) list(args []string) error {
	var running, scheduled, all bool
	if _, err := r.parse("list [-r] [-s] [-a]", args, func(s *flag.FlagSet) {
		s.BoolVar(&running, "r", false, "")
		s.BoolVar(&scheduled, "s", false, "")
		s.BoolVar(&all, "a", false, "")
	}, 0); err != nil {
		return err
	}
	if all || !running && !scheduled {
		running, scheduled = true, true
	}
	fmt.Fprintln(r.out, "Waiting for response...")
	jobs, err := r.jobs()
	if err != nil {
		return err
	}
	section := func(title, none string, states ...string) {
		var lines []string
		for _, j := range jobs {
			if slices.Contains(states, j.State) {
				lines = append(lines, fmt.Sprintf("%s : %s : %s (%s)", time.UnixMilli(j.Start).Format("02.01.2006 15:04:05"), j.ID, j.Name, j.State))
			}
		}
		if len(lines) == 0 {
			fmt.Fprintln(r.out, none)
			return
		}
		fmt.Fprintln(r.out, title)
		for _, l := range lines {
			fmt.Fprintln(r.out, l)
		}
		fmt.Fprintln(r.out, strings.Repeat("-", 62))
	}
	if running {
		section("------------------ Running/Restarting Jobs -------------------", "No running jobs.", "RUNNING", "RESTARTING", "FAILING", "CANCELLING")
	}
	if scheduled {
		section("----------------------- Scheduled Jobs -----------------------", "No scheduled jobs.", "CREATED", "INITIALIZING")
	}
	if all {
		section("---------------------- Terminated Jobs -----------------------", "No terminated jobs.", endedStates...)
	}
	return nil
}

func (r *remote) cancel(args []string) error {
	words, err := r.parse("cancel JOB", args, nil, 1)
	if err != nil {
		return err
	}
	if words[0], err = r.job(words[0]); err != nil {
		return err
	}
	fmt.Fprintf(r.out, "Cancelling job %s.\n", words[0])
	if err := r.call("PATCH", "/jobs/"+url.PathEscape(words[0])+"?mode=cancel", struct{}{}, nil); err != nil {
		return err
	}
	fmt.Fprintf(r.out, "Cancelled job %s.\n", words[0])
	return nil
}

func (r *remote) savepoint(args []string) error {
	var dispose bool
	words, err := r.parse("savepoint JOB [DIR], or savepoint -d PATH", args, func(s *flag.FlagSet) {
		s.BoolVar(&dispose, "d", false, "")
		s.BoolVar(&dispose, "dispose", false, "")
	}, 2)
	if err != nil {
		return err
	}
	if dispose {
		return r.dispose(words[0])
	}
	if words[0], err = r.job(words[0]); err != nil {
		return err
	}
	body := map[string]any{"target-directory": nil, "cancel-job": false, "formatType": "CANONICAL", "triggerId": nil}
	if len(words) == 2 {
		if body["target-directory"], err = filepath.Abs(words[1]); err != nil {
			return err
		}
	}
	fmt.Fprintf(r.out, "Triggering savepoint for job %s.\nWaiting for response...\n", words[0])
	done, err := r.trigger("/jobs/"+url.PathEscape(words[0])+"/savepoints", "", body)
	if err != nil {
		return err
	}
	path := done.Location
	fmt.Fprintf(r.out, "Savepoint completed. Path: %s\nResume from it with: SET 'execution.state-recovery.path' = '%s';\n", path, path)
	return nil
}

func (r *remote) stop(args []string) error {
	var dir string
	var drain bool
	words, err := r.parse("stop [--savepoint DIR] [--drain] JOB", args, func(s *flag.FlagSet) {
		s.StringVar(&dir, "savepoint", "", "")
		s.StringVar(&dir, "p", "", "")
		s.BoolVar(&drain, "drain", false, "")
		s.BoolVar(&drain, "d", false, "")
	}, 1)
	if err != nil {
		return err
	}
	if words[0], err = r.job(words[0]); err != nil {
		return err
	}
	body := map[string]any{"targetDirectory": nil, "drain": drain, "formatType": "CANONICAL", "triggerId": nil}
	if dir != "" {
		if body["targetDirectory"], err = filepath.Abs(dir); err != nil {
			return err
		}
	}
	fmt.Fprintf(r.out, "Triggering stop-with-savepoint for job %s.\nWaiting for response...\n", words[0])
	job := "/jobs/" + url.PathEscape(words[0])
	done, err := r.trigger(job+"/stop", job+"/savepoints", body)
	if err != nil {
		return err
	}
	fmt.Fprintf(r.out, "Savepoint completed. Path: %s\n", done.Location)
	return nil
}

// dispose removes a savepoint.
func (r *remote) dispose(path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	fmt.Fprintf(r.out, "Disposing savepoint '%s'.\nWaiting for response...\n", path)
	if _, err := r.trigger("/savepoint-disposal", "", map[string]any{"savepoint-path": path}); err != nil {
		return err
	}
	fmt.Fprintf(r.out, "Savepoint '%s' disposed.\n", path)
	return nil
}

func (r *remote) checkpoint(args []string) error {
	words, err := r.parse("checkpoint JOB", args, nil, 1)
	if err != nil {
		return err
	}
	if words[0], err = r.job(words[0]); err != nil {
		return err
	}
	fmt.Fprintf(r.out, "Triggering checkpoint for job %s.\nWaiting for response...\n", words[0])
	done, err := r.trigger("/jobs/"+url.PathEscape(words[0])+"/checkpoints", "", map[string]any{"checkpointType": "CONFIGURED", "triggerId": nil})
	if err != nil {
		return err
	}
	fmt.Fprintf(r.out, "Checkpoint %d for job %s completed.\n", done.Checkpoint, words[0])
	return nil
}

// triggered is what an asynchronous operation gave.
type triggered struct {
	Location   string
	Checkpoint int64 `json:"checkpointId"`
	Failure    *struct {
		Trace string `json:"stack-trace"`
	} `json:"failure-cause"`
}

// trigger starts an asynchronous operation and polls until it ends, below polls or else where it was started.
func (r *remote) trigger(path, polls string, body any) (triggered, error) {
	var id struct {
		Request string `json:"request-id"`
	}
	if err := r.call("POST", path, body, &id); err != nil {
		return triggered{}, err
	}
	if polls == "" {
		polls = path
	}
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		var s struct {
			Status    struct{ ID string }
			Operation triggered
		}
		if err := r.call("GET", polls+"/"+id.Request, struct{}{}, &s); err != nil {
			return triggered{}, err
		}
		if s.Status.ID == "COMPLETED" {
			if f := s.Operation.Failure; f != nil {
				return triggered{}, said(f.Trace)
			}
			return s.Operation, nil
		}
		time.Sleep(wait)
	}
}
