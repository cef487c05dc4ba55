package repl

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// Names of the keys of full-screen views that are no characters.
const (
	keyUp    = "up"
	keyDown  = "down"
	keyLeft  = "left"
	keyRight = "right"
	keyEnd   = "end"
	keyF5    = "f5"
	keyNext  = "pagedown"
	keyPrev  = "pageup"
	keyEsc   = "esc"
	keyEnter = "enter"
	keyErase = "erase"
	keyCtrlC = "ctrl-c"
)

var keyNames = map[string]string{
	"\x1b": keyEsc, "\r": keyEnter, "\n": keyEnter, "\x7f": keyErase, "\b": keyErase, "\x03": keyCtrlC,
	"\x1b[A": keyUp, "\x1b[B": keyDown, "\x1b[C": keyRight, "\x1b[D": keyLeft,
	"\x1bOA": keyUp, "\x1bOB": keyDown, "\x1bOC": keyRight, "\x1bOD": keyLeft,
	"\x1b[F": keyEnd, "\x1bOF": keyEnd, "\x1b[4~": keyEnd, "\x1b[8~": keyEnd,
	"\x1b[15~": keyF5, "\x1b[5~": keyPrev, "\x1b[6~": keyNext,
}

// splitKeys cuts what a terminal sent into keys: names as above or single characters. Unknown sequences are left out.
func splitKeys(in string) []string {
	var keys []string
	for in != "" {
		n := 1
		if in[0] == '\x1b' && len(in) > 1 && (in[1] == '[' || in[1] == 'O') {
			n = 2
			for n < len(in) && (in[n] < 0x40 || in[n] > 0x7e) {
				n++
			}
			n = min(n+1, len(in))
		}
		switch name, ok := keyNames[in[:n]]; {
		case ok:
			keys = append(keys, name)
		case n == 1 && in[0] >= ' ' && in[0] < 0x7f:
			keys = append(keys, in[:1])
		}
		in = in[n:]
	}
	return keys
}

// readKeys puts the terminal into raw mode and sends its keys until stop is called, which restores the terminal. keys is
// closed when the terminal is gone.
func readKeys(tty *os.File) (keys <-chan string, stop func(), err error) {
	before, err := term.MakeRaw(int(tty.Fd()))
	if err != nil {
		return nil, nil, fmt.Errorf("raw mode of the terminal: %w", err)
	}
	c, end, ended := make(chan string), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		defer close(c)
		for {
			in, err := pollKeys(tty)
			if err != nil {
				return
			}
			for _, k := range splitKeys(in) {
				select {
				case c <- k:
				case <-end:
					return
				}
			}
			select {
			case <-end:
				return
			default:
			}
		}
	}()
	return c, func() {
		close(end)
		<-ended
		term.Restore(int(tty.Fd()), before)
	}, nil
}

// pollKeys waits a moment for input, so that whoever leaves a view need not wait for a key, and leaves nothing half read.
func pollKeys(tty *os.File) (string, error) {
	ready := []unix.PollFd{{Fd: int32(tty.Fd()), Events: unix.POLLIN}}
	n, err := unix.Poll(ready, 50)
	if n <= 0 || errors.Is(err, unix.EINTR) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var buf [256]byte
	got, err := tty.Read(buf[:])
	if got == 0 && err == nil {
		err = io.EOF
	}
	return string(buf[:got]), err
}
