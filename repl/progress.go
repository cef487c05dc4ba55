package repl

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"
)

// progress tells the user of a terminal, below what has been printed, that a statement runs and for how long.
type progress struct {
	rows atomic.Int64
	job  atomic.Pointer[string] // of the query that runs
	end  chan struct{}
	left chan struct{}
}

// progressAfter is how long a statement runs without a word.
const progressAfter = time.Second

// beginProgress begins to tell; stop takes the line away.
func (s *Shell) beginProgress(begin time.Time) (p *progress, stop func()) {
	p = &progress{end: make(chan struct{}), left: make(chan struct{})}
	if s.Keys == nil || s.watching {
		return p, func() {}
	}
	var more func() string
	if strings.EqualFold(s.Exec.Option("table.dml-sync"), "true") {
		more = s.Progress // else jobs run beside the statement
	}
	go func() {
		defer close(p.left)
		tick := time.NewTicker(progressAfter / 2)
		defer tick.Stop()
		for {
			select {
			case <-p.end:
				return
			case now := <-tick.C:
				if took := now.Sub(begin); took >= progressAfter {
					line := p.line(took, more)
					if job := p.job.Load(); job != nil && p.rows.Load() == 0 {
						if why := s.why(*job); why != "" {
							line += ". " + why
						}
					}
					s.Term.Status(line)
				}
			}
		}
	}()
	return p, func() {
		close(p.end)
		<-p.left
		s.Term.Status("")
	}
}

func (p *progress) line(took time.Duration, more func() string) string {
	line := fmt.Sprintf("[%s", took.Round(time.Second))
	if n := p.rows.Load(); n > 0 {
		line += fmt.Sprintf(", %d %s", n, plural("row", n > 1))
	}
	if more != nil {
		if m := more(); m != "" {
			line += "; " + m
		}
	}
	return line + "] Ctrl-C ends it"
}

// why says what a query that has given nothing waits for.
func (s *Shell) why(job string) string {
	if s.Why == nil {
		return ""
	}
	return s.Why(job)
}
