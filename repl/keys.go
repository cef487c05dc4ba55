package repl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// Names of keys that are no characters. Letters with Ctrl and Alt are "ctrl-a" and "alt-b".
const (
	keyUp        = "up"
	keyDown      = "down"
	keyLeft      = "left"
	keyRight     = "right"
	keyWordLeft  = "ctrl-left"
	keyWordRight = "ctrl-right"
	keyHome      = "home"
	keyEnd       = "end"
	keyDelete    = "delete"
	keyF5        = "f5"
	keyNext      = "pagedown"
	keyPrev      = "pageup"
	keyEsc       = "esc"
	keyEnter     = "enter"
	keyTab       = "tab"
	keyErase     = "erase"
	keyCtrlC     = "ctrl-c"
	keyPaste     = "paste"  // the beginning of a bracketed paste
	keyResize    = "resize" // the terminal has another size
	keyUnknown   = "unknown"
)

var keyNames = map[string]string{
	"\x1b": keyEsc, "\r": keyEnter, "\n": keyEnter, "\t": keyTab, "\x7f": keyErase, "\b": keyErase, "\x1f": "ctrl-_",
	"\x1b[A": keyUp, "\x1b[B": keyDown, "\x1b[C": keyRight, "\x1b[D": keyLeft,
	"\x1bOA": keyUp, "\x1bOB": keyDown, "\x1bOC": keyRight, "\x1bOD": keyLeft,
	"\x1b[1;5C": keyWordRight, "\x1b[1;5D": keyWordLeft, "\x1b[1;3C": keyWordRight, "\x1b[1;3D": keyWordLeft,
	"\x1b[5C": keyWordRight, "\x1b[5D": keyWordLeft, "\x1bOc": keyWordRight, "\x1bOd": keyWordLeft,
	"\x1b[H": keyHome, "\x1bOH": keyHome, "\x1b[1~": keyHome, "\x1b[7~": keyHome,
	"\x1b[F": keyEnd, "\x1bOF": keyEnd, "\x1b[4~": keyEnd, "\x1b[8~": keyEnd, "\x1b[3~": keyDelete,
	"\x1b[15~": keyF5, "\x1b[5~": keyPrev, "\x1b[6~": keyNext, pasteBegin: keyPaste,
	"\x1b\r": "alt-enter", "\x1b\n": "alt-enter", "\x1b\x7f": "alt-erase", "\x1b\b": "alt-erase",
}

const (
	pasteBegin, pasteEnd = "\x1b[200~", "\x1b[201~"
	// longestKey bounds the sequences that are waited for.
	longestKey = 16
)

// decodeKey reads the first key of in and gives its length: a name as above or a character. The length is 0 when more may
// belong to it; final says that nothing more comes.
func decodeKey(in string, final bool) (key string, n int) {
	c := in[0]
	switch {
	case c == '\x1b':
		return decodeEscape(in, final)
	case keyNames[in[:1]] != "":
		return keyNames[in[:1]], 1
	case c < ' ' && c > 0:
		return "ctrl-" + string(c-1+'a'), 1
	case c < ' ':
		return keyUnknown, 1
	}
	if !utf8.FullRuneInString(in) && !final {
		return "", 0
	}
	r, size := utf8.DecodeRuneInString(in)
	if r == utf8.RuneError || r >= 0x80 && r < 0xa0 {
		return keyUnknown, size
	}
	return in[:size], size
}

func decodeEscape(in string, final bool) (string, int) {
	switch {
	case len(in) == 1 && !final:
		return "", 0
	case len(in) == 1 || in[1] == '\x1b':
		return keyEsc, 1
	case in[1] != '[' && in[1] != 'O':
		if name := keyNames[in[:2]]; name != "" {
			return name, 2
		}
		if in[1] > ' ' && in[1] < 0x7f {
			return "alt-" + strings.ToLower(in[1:2]), 2
		}
		return keyEsc, 1
	}
	end := 2
	for end < len(in) && (in[end] < 0x40 || in[end] > 0x7e) {
		end++
	}
	if end == len(in) {
		if !final && end < longestKey {
			return "", 0
		}
		return keyUnknown, end
	}
	if name := keyNames[in[:end+1]]; name != "" {
		return name, end + 1
	}
	return keyUnknown, end + 1
}

// keyReader reads the keys of a terminal in raw mode.
type keyReader struct {
	tty     *os.File
	size    func() (w, h int)
	w, h    int           // the size that was last told
	pending string        // read, not yet given
	pause   time.Duration // pastePause
	last    string        // the bytes of the key that was given last
	before  *term.State
}

func newKeyReader(tty *os.File) *keyReader {
	k := &keyReader{tty: tty, pause: pastePause}
	k.size = func() (int, int) {
		w, h, err := term.GetSize(int(tty.Fd()))
		if err != nil || w <= 0 || h <= 0 {
			return 80, 24
		}
		return w, h
	}
	return k
}

// begin puts the terminal into raw mode, until end.
func (k *keyReader) begin() (err error) {
	k.w, k.h = k.size()
	if k.before, err = term.MakeRaw(int(k.tty.Fd())); err != nil {
		return fmt.Errorf("raw mode of the terminal: %w", err)
	}
	return nil
}

func (k *keyReader) end() {
	term.Restore(int(k.tty.Fd()), k.before)
}

// next waits for a key. The terminal having another size is the key "resize".
func (k *keyReader) next(ctx context.Context) (string, error) {
	for waited := false; ; {
		// Before any key: what it does must not be drawn for the size that was.
		if w, h := k.size(); w != k.w || h != k.h {
			k.w, k.h = w, h
			return keyResize, nil
		}
		if k.pending != "" {
			if key, n := decodeKey(k.pending, waited); n > 0 {
				k.last, k.pending = k.pending[:n], k.pending[n:]
				return key, nil
			}
		}
		if err := ctx.Err(); err != nil {
			return "", err
		}
		got, err := k.more(50 * time.Millisecond)
		if err != nil {
			return "", err
		}
		waited = got == 0
	}
}

// pastePause is how long a bracketed paste may say nothing. Then its end was lost, and what has come is all of it.
const pastePause = 2 * time.Second

// paste reads the rest of a bracketed paste. One whose end does not come is ended by a pause, or at once by Ctrl-C as the only key
// that comes, which then is a key.
func (k *keyReader) paste(ctx context.Context) (string, error) {
	last := time.Now()
	for {
		if at := strings.Index(k.pending, pasteEnd); at >= 0 {
			text := k.pending[:at]
			k.pending = k.pending[at+len(pasteEnd):]
			return text, nil
		}
		if err := ctx.Err(); err != nil {
			return "", err
		}
		if len(k.pending) > maxBuffered {
			return "", fmt.Errorf("more than %d bytes were pasted", maxBuffered)
		}
		before := len(k.pending)
		got, err := k.more(50 * time.Millisecond)
		if err != nil {
			return "", err
		}
		switch {
		case got > 0 && k.pending[before:] == "\x03":
			text := k.pending[:before]
			k.pending = k.pending[before:]
			return text, nil
		case got > 0:
			last = time.Now()
		case time.Since(last) > k.pause:
			text := k.pending
			k.pending = ""
			return text, nil
		}
	}
}

// more reads what is there, and waits for it no longer than wait, so that whoever reads keys can see to other things.
func (k *keyReader) more(wait time.Duration) (int, error) {
	ready := []unix.PollFd{{Fd: int32(k.tty.Fd()), Events: unix.POLLIN}}
	n, err := unix.Poll(ready, int(wait.Milliseconds()))
	if n <= 0 || errors.Is(err, unix.EINTR) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	var buf [64 << 10]byte
	got, err := k.tty.Read(buf[:])
	if got == 0 && err == nil {
		err = io.EOF
	}
	k.pending += string(buf[:got])
	return got, err
}

// readKeys puts the terminal into raw mode and sends its keys until stop is called, which restores the terminal and gives what was
// typed and not received. keys is closed when the terminal is gone.
func readKeys(tty *os.File) (keys <-chan string, stop func() (ahead string), err error) {
	k := newKeyReader(tty)
	if err := k.begin(); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	c, ended := make(chan string), make(chan struct{})
	go func() {
		defer close(ended)
		defer close(c)
		for {
			key, err := k.next(ctx)
			if err != nil {
				return
			}
			select {
			case c <- key:
			case <-ctx.Done():
				k.pending = k.last + k.pending
				return
			}
		}
	}()
	return c, func() string {
		cancel()
		<-ended
		k.end()
		return k.pending
	}, nil
}
