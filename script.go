package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"runnel/exec"
)

// scripts runs the -f files in one session and then stays until their jobs have ended.
func (p *process) scripts(ctx context.Context) int {
	signals, stop := interrupts()
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	interrupted := make(chan struct{})
	ended := make(chan struct{})
	defer close(ended)
	again := make(chan os.Signal, 1)
	go func() {
		select {
		case <-signals:
			close(interrupted)
			cancel()
		case <-ended:
			return
		}
		select {
		case s := <-signals:
			again <- s
		case <-ended:
		}
	}()
	code := p.runFiles(ctx)
	if code == exitOK {
		code = p.await(ctx)
	}
	select {
	case <-interrupted:
		p.term.Message("[INFO] Interrupted: stopping the jobs; once more to leave at once.")
		p.stopJobs(again)
		return exitInterrupted
	default:
		return code
	}
}

func (p *process) runFiles(ctx context.Context) int {
	if p.flags.echo {
		p.term.Together()
	}
	texts, err := readScripts(p.flags.files)
	if err != nil {
		p.term.Message("[ERROR] " + err.Error())
		return exitUsage
	}
	if code := p.initScript(ctx); code != exitOK {
		if p.flags.echo {
			p.shell.End()
		}
		return code
	}
	if p.flags.echo {
		p.shell.Begin(p.dir.file("history"))
		defer p.shell.End()
	}
	for i, text := range texts {
		if err := p.shell.Script(ctx, p.flags.files[i], text); err != nil {
			if errors.Is(err, context.Canceled) {
				return exitInterrupted
			}
			return exitFailed
		}
	}
	return exitOK
}

// readScripts reads all scripts before the first statement runs: a name that is mistyped must not end a session half way. The
// name - is standard input.
func readScripts(names []string) ([]string, error) {
	var texts []string
	for _, name := range names {
		read := func() ([]byte, error) { return os.ReadFile(name) }
		if name == "-" {
			read = func() ([]byte, error) { return io.ReadAll(os.Stdin) }
		}
		b, err := read()
		if err != nil {
			return nil, fmt.Errorf("script: %w", err)
		}
		texts = append(texts, string(b))
	}
	return texts, nil
}

// await waits for all jobs, with a status line on a terminal. Failed jobs have been announced. When all is well there is
// nothing that a later --resume should know.
func (p *process) await(ctx context.Context) int {
	if p.cluster == nil {
		return exitOK
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	defer p.term.Status("")
	for _, j := range p.cluster.Jobs() {
		if j.Result() != nil {
			continue
		}
		for waiting := true; waiting; {
			select {
			case <-j.Done():
				waiting = false
			case <-tick.C:
				p.term.Status(p.statusLine())
			case <-ctx.Done():
				return exitInterrupted
			}
		}
		if j.State() == exec.JobFailed {
			p.jobFailed.Store(true)
		}
	}
	if p.jobFailed.Load() {
		return exitJobFailed
	}
	p.cluster.Release()
	return exitOK
}

// statusLine says how the running jobs are doing.
func (p *process) statusLine() string {
	var parts []string
	for _, j := range p.cluster.Jobs() {
		if j.State().Terminal() || j.Result() != nil {
			continue
		}
		if _, why := j.Slots(); why != "" {
			parts = append(parts, j.Name()+" waits for slots: "+why)
			continue
		}
		m := summarize(j)
		s := fmt.Sprintf("%s %s: %d in, %d out", j.Name(), strings.ToLower(j.State().String()), m.in, m.out)
		if m.lag > 0 {
			s += fmt.Sprintf(", watermark %s behind", m.lag.Round(100*time.Millisecond))
		}
		if m.checkpoint > 0 {
			s += fmt.Sprintf(", checkpoint %d", m.checkpoint)
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, " | ")
}
