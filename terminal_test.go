package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminalSession is the program on a terminal of its own.
type terminalSession struct {
	t      *testing.T
	master *os.File
	mu     sync.Mutex
	out    bytes.Buffer
	seen   int // how much of out was looked at
}

// openTerminal starts the program on a pseudo terminal of 80 x 24.
func openTerminal(t *testing.T, bin string, args ...string) *terminalSession {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := &terminalSession{t: t, master: master}
	s.resize(80, 24)
	cmd := exec.Command(bin, args...)
	cmd.Env = append(os.Environ(), "TERM=xterm")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			s.mu.Lock()
			s.out.Write(buf[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		master.Close()
	})
	return s
}

func (s *terminalSession) resize(w, h uint16) {
	if err := unix.IoctlSetWinsize(int(s.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: w, Row: h}); err != nil {
		s.t.Fatal(err)
	}
}

// keys types and waits until want shows behind what was seen before.
func (s *terminalSession) keys(keys, want string) {
	s.t.Helper()
	if _, err := s.master.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
	for until := time.Now().Add(30 * time.Second); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		s.mu.Lock()
		at := strings.Index(s.out.String()[s.seen:], want)
		if at >= 0 {
			s.seen += at + len(want)
		}
		s.mu.Unlock()
		if at >= 0 {
			return
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.t.Fatalf("after %q: no %q in %q", keys, want, s.out.String()[s.seen:])
}

// TestShellOnATerminal types a session: statements of several lines, slips, completion, history, results that fill the screen,
// Ctrl-C, a paste, another size.
func TestShellOnATerminal(t *testing.T) {
	dir := t.TempDir()
	const prompt = "Flink SQL\x1b[0m> "
	s := openTerminal(t, buildProgram(t), "--data", dir, "-D", "rest.port=0")
	s.keys("", prompt)
	s.keys("sele\t1 AS\rone_more;\r", "|    one_more |")
	s.keys("", "Received a total of 1 row (")
	s.keys("", prompt)
	s.keys("SELECT '日本' AS order;\r", "ORDER is a reserved word; as a name it is written `order`")
	s.keys("", prompt)
	s.keys("\x1b[200~CREATE TABLE src (id BIGINT, k INT) WITH (\n\t'connector' = 'datagen',\n'rows-per-second' = '100',\n"+
		"'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '100000');\nSHOW TABLES;\x1b[201~\r", "1 row in set")
	s.keys("", prompt)
	s.keys("SELECT k F\tROM src;\r", "+I")
	s.keys("\x03", "Query terminated, received a total of ")
	s.keys("", prompt)
	s.keys("SELECT 1\x03", prompt)
	s.keys("SET 'sql-client.execution.result-mode' = 't\t", "'TABLE")
	s.keys("';\r", "succeeded")
	s.keys("", prompt)
	s.keys("SELECT id % 3 AS m, COUNT(*) AS c FROM src GROUP BY id % 3;\r", "SQL Query Result (Table)")
	s.keys("", "\x1b[1m1")
	s.resize(60, 12)
	s.keys("s\r", "Row Summary")
	s.keys("qq", "Result retrieval cancelled.")
	s.keys("", prompt)
	s.keys("SHOW FUNCTIONS;\r", "Lines 1 to 8 of ")
	s.keys("Gq", "rows in set")
	s.keys("", prompt)
	s.keys("SET 'my.password' = 'hush';\r", "succeeded")
	s.keys("", prompt)
	s.keys("\x12one_\x05", "> one_more;")
	s.keys("\r", "SQL Query Result (Table)")
	s.keys("q", prompt)
	s.keys("QUIT;\r", "Exiting runnel")
	history, err := os.ReadFile(filepath.Join(dir, "history"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`:select 1 AS\none_more;`, `:SET 'my.password' = '******';`, `:SHOW TABLES;`} {
		if !strings.Contains(string(history), want+"\n") {
			t.Errorf("no %s in the history:\n%s", want, history)
		}
	}
}
