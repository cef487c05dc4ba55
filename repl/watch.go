package repl

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var watchCommand = regexp.MustCompile(`^\\watch(?:\s+(\d+(?:\.\d+)?))?\s*;?$`)

// isWatch tells a line that begins with a backslash, which is no SQL.
func isWatch(text string) bool { return strings.HasPrefix(strings.TrimSpace(text), `\`) }

// watch repeats the last statement until Ctrl-C or until it fails.
func (s *Shell) watch(ctx context.Context, text string) {
	m := watchCommand.FindStringSubmatch(text)
	switch {
	case m == nil:
		s.Term.Message(`[ERROR] Unknown command; \watch [seconds] repeats the last statement.`)
		return
	case s.last == "":
		s.Term.Message(`[ERROR] There is no statement to repeat yet.`)
		return
	}
	every := 2 * time.Second
	if f, err := strconv.ParseFloat(m[1], 64); err == nil {
		every = max(time.Duration(f*float64(time.Second)), viewTick)
	}
	s.watching = true
	defer func() { s.watching = false }()
	wait, cancel := context.WithCancel(ctx)
	defer cancel()
	for {
		if s.Term.Codes() {
			fmt.Fprint(s.Term, "\x1b[H\x1b[2J")
		}
		s.Term.Message(fmt.Sprintf("Every %s: %s   %s\n", every, clip(shown(s.last), 60), time.Now().Format("15:04:05")))
		interrupted, err := s.repeat(wait)
		if err != nil || interrupted {
			return
		}
		stop := s.onInterrupt(cancel)
		select {
		case <-time.After(every):
		case <-wait.Done():
		}
		stop()
		if wait.Err() != nil {
			return
		}
	}
}

// repeat runs the last statement once.
func (s *Shell) repeat(ctx context.Context) (interrupted bool, err error) {
	begin := s.interrupted
	_, err = s.one(ctx, s.last, place{})
	return s.interrupted != begin, err
}
