package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// flags are the command line of everything but the REST subcommands.
type flags struct {
	demo      bool
	files     []string
	init      string
	session   string
	set       []string // key=value
	data      string
	config    string
	broker    string // addresses to embed a broker for; "-" is the default set
	brokerSet bool
	resume    bool
	check     bool
	ephemeral bool
	echo      bool
	version   bool
}

const usageText = `runnel: Flink SQL in one binary

  runnel                      the shell
  runnel -f a.sql [-f b.sql]  run scripts in one session, stay until their jobs end
  runnel demo                 a join of two Kafka topics, exactly once, stopped and rescaled, on the embedded broker
  runnel list [-r] [-s] [-a]  jobs of a running runnel (or of any Flink REST server: -m host:port)
  runnel savepoint JOB [DIR]  write a savepoint; savepoint -d PATH removes one
  runnel checkpoint JOB       take a checkpoint now
  runnel stop [--savepoint DIR] [--drain] JOB
  runnel cancel JOB

  -f FILE             script, - for standard input; may be repeated
  -i FILE             script of SET and CREATE statements that runs first
  -s NAME             name of the session; scripts for Flink's client give one, and it means nothing else here either
  -D KEY=VALUE        session option; may be repeated
  --config FILE       options in the format of Flink's config.yaml
  --data DIR          data directory (state, checkpoints, embedded broker, history, log)
  --ephemeral         a temporary data directory, removed at the end
  --embedded-kafka[=HOST:PORT,..]
                      let the embedded broker serve these addresses when no broker answers there
                      (kafka:9092 and localhost:9092 by default; always on in the shell and the demo)
  --resume            start each job of -f from its newest checkpoint or stop-savepoint
  --check             plan the statements of -f and run nothing
  --echo              print prompts and statements of scripts, as Flink's client does
  --version

JOB is an id, its beginning, a job's name or the end of it: runnel stop --savepoint sp enriched

A process with a job shows it at http://localhost:8081 (rest.port).

Exit codes: 0 fine, 1 a statement failed, 2 wrong usage, 3 a job failed, 130 interrupted.
`

// list is a flag that may be repeated.
type list struct{ to *[]string }

func (l list) String() string     { return "" }
func (l list) Set(s string) error { *l.to = append(*l.to, s); return nil }

// brokerFlag takes --embedded-kafka with or without addresses.
type brokerFlag struct{ f *flags }

func (b brokerFlag) String() string   { return "" }
func (b brokerFlag) IsBoolFlag() bool { return true }
func (b brokerFlag) Set(s string) error {
	switch s {
	case "true":
		b.f.brokerSet, b.f.broker = true, ""
	case "false":
		b.f.brokerSet = false
	default:
		b.f.brokerSet, b.f.broker = true, s
	}
	return nil
}

// errUsage ends the program with exit code 2 after its text was shown.
var errUsage = errors.New("wrong usage")

func parseFlags(args []string, errOut io.Writer) (*flags, error) {
	f := &flags{}
	if len(args) > 0 && args[0] == "demo" {
		f.demo, args = true, args[1:]
	}
	set := flag.NewFlagSet("runnel", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.Var(list{&f.files}, "f", "")
	set.Var(list{&f.files}, "file", "")
	set.StringVar(&f.init, "i", "", "")
	set.StringVar(&f.init, "init", "", "")
	set.StringVar(&f.session, "s", "", "")
	set.StringVar(&f.session, "session", "", "")
	set.Var(list{&f.set}, "D", "")
	set.StringVar(&f.data, "data", "", "")
	set.StringVar(&f.config, "config", "", "")
	set.Var(brokerFlag{f}, "embedded-kafka", "")
	set.BoolVar(&f.resume, "resume", false, "")
	set.BoolVar(&f.check, "check", false, "")
	set.BoolVar(&f.ephemeral, "ephemeral", false, "")
	set.BoolVar(&f.echo, "echo", false, "")
	set.BoolVar(&f.version, "version", false, "")
	if err := set.Parse(glueD(args)); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil, err
		}
		return nil, fmt.Errorf("%w: %v; runnel -h shows the flags", errUsage, err)
	}
	switch {
	case set.NArg() > 0:
		return nil, fmt.Errorf("%w: unknown word '%s'; runnel -h shows the commands", errUsage, set.Arg(0))
	case f.resume && len(f.files) == 0, f.check && len(f.files) == 0:
		return nil, fmt.Errorf("%w: --resume and --check go with -f", errUsage)
	case f.ephemeral && f.data != "":
		return nil, fmt.Errorf("%w: --ephemeral and --data exclude each other", errUsage)
	case f.demo && len(f.files) > 0:
		return nil, fmt.Errorf("%w: demo runs its own scripts, not -f", errUsage)
	}
	if !sessionName.MatchString(f.session) {
		return nil, fmt.Errorf("%w: Session identifier must only consists of 'a-zA-Z0-9_-.', got '%s'", errUsage, f.session)
	}
	for _, kv := range f.set {
		if k, _, ok := strings.Cut(kv, "="); !ok || strings.TrimSpace(k) == "" {
			return nil, fmt.Errorf("%w: -D takes KEY=VALUE, got '%s'", errUsage, kv)
		}
	}
	return f, nil
}

// sessionName is what -s takes.
var sessionName = regexp.MustCompile(`^[a-zA-Z0-9_.-]*$`)

// glueD lets -Dkey=value stand without a blank, as Flink's tools do.
func glueD(args []string) []string {
	var out []string
	for _, a := range args {
		if rest, ok := strings.CutPrefix(a, "-D"); ok && rest != "" && !strings.HasPrefix(rest, "=") {
			out = append(out, "-D", rest)
			continue
		}
		out = append(out, a)
	}
	return out
}
