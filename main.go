// Runnel is Flink SQL in one binary: an interactive SQL client with an in-process mini-cluster.
//
// This package is the command line: flags, signals, the registry of connectors and formats, and the wiring of the other
// packages.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"golang.org/x/term"

	"runnel/repl"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailed      = 1 // a statement failed
	exitUsage       = 2
	exitJobFailed   = 3
	exitInterrupted = 130
)

// gcPercent is GOGC. The heap is small beside the state, which the collector does not see: collecting less often costs
// little memory.
const gcPercent = 300

// version is what --version prints; releases set it with -ldflags.
var version = "0.1"

func main() {
	debug.SetGCPercent(gcPercent)
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the program with its outside passed in; it gives the exit code.
func run(args []string, in *os.File, out, errOut *os.File) int {
	if len(args) > 0 && remoteCommands[args[0]] != nil {
		return runRemote(args[0], args[1:], out, errOut)
	}
	f, err := parseFlags(args, errOut)
	switch {
	case errors.Is(err, flag.ErrHelp):
		io.WriteString(out, usageText)
		return exitOK
	case err != nil:
		fmt.Fprintln(errOut, err)
		return exitUsage
	case f.version:
		fmt.Fprintln(out, "runnel", version)
		return exitOK
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p, err := newProcess(f, out, errOut)
	if err != nil {
		fmt.Fprintln(errOut, "runnel:", err)
		var held *errHeld
		if errors.As(err, &held) || errors.Is(err, errUsage) {
			return exitUsage
		}
		return exitFailed
	}
	defer p.close()
	switch {
	case f.demo:
		return p.demo(ctx)
	case len(f.files) > 0:
		return p.scripts(ctx)
	}
	return p.interactive(ctx, in)
}

// greet is what a terminal shows at the start.
func (p *process) greet() {
	p.term.Message("runnel " + version + ": Flink SQL in one binary. 'HELP;' lists the commands, 'QUIT;' leaves.")
	p.term.Message("Data directory: " + p.dir.path)
	if p.address != "" {
		p.term.Message("Dashboard: http://" + p.address)
	}
	p.term.Message("")
}

// interactive is the shell on a terminal or a pipe.
func (p *process) interactive(ctx context.Context, in *os.File) int {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt)
	defer signal.Stop(signals)
	terminate := make(chan os.Signal, 1)
	signal.Notify(terminate, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(terminate)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p.shell.Interrupts = signals

	if code := p.initScript(ctx); code != exitOK {
		return code
	}
	var ed repl.Editor
	onTerminal := term.IsTerminal(int(in.Fd())) && p.term.TTY()
	if onTerminal && p.term.Codes() {
		var err error
		if ed, err = repl.NewLineEditor(in, p.term, p.dir.file("history"), p.session.Complete, p.session.Option); err != nil {
			p.term.Message("[NOTE] " + err.Error())
		} else {
			p.shell.Keys = in
		}
	}
	p.openCluster() // the subcommands in another terminal find the shell before its first job; jobs meet its error
	if onTerminal {
		p.greet()
	}
	if ed == nil {
		ed = repl.NewPlainEditor(in, p.term, onTerminal || p.flags.echo, signals)
	}
	ended := make(chan error, 1)
	go func() { ended <- p.shell.Interactive(ctx, ed) }()
	code := exitOK
	select {
	case err := <-ended:
		if err != nil && !errors.Is(err, repl.ErrStatement) {
			p.term.Message("[ERROR] " + err.Error())
		}
		if err != nil {
			code = exitFailed
		}
	case <-terminate:
		// The goroutine may sit in a read of the terminal, which nothing but the end of the process ends.
		cancel()
		code = exitInterrupted
	}
	p.stopJobs(signals)
	return code
}
