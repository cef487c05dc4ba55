package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// dataDir is the data directory of a process: Badger state, checkpoints, savepoints, the embedded broker, history, log.
type dataDir struct {
	path      string
	temporary bool
	lock      *os.File
}

const (
	// lockFile is held by the process that has the directory.
	lockFile = "lock"
	otherDir = "give another one with --data DIR, or --ephemeral for a temporary one"
)

// errHeld says that another process has the data directory.
type errHeld struct{ path, holder string }

func (e *errHeld) Error() string {
	return fmt.Sprintf("data directory %s is in use by %s; %s", e.path, e.holder, otherDir)
}

// defaultDataDir is the place for user data of the XDG base directory specification.
func defaultDataDir() (string, error) {
	if d := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "runnel"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("data directory: %w; give one with --data DIR", err)
	}
	return filepath.Join(home, ".local", "share", "runnel"), nil
}

// openDataDir makes and locks the directory. The error is an *errHeld when another process has it.
func openDataDir(path string) (*dataDir, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("data directory: %w; %s", err, otherDir)
	}
	f, err := os.OpenFile(filepath.Join(path, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("data directory: %w; %s", err, otherDir)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			b, _ := os.ReadFile(f.Name())
			holder := strings.TrimSpace(string(b))
			if holder == "" {
				holder = "another process"
			}
			return nil, &errHeld{path, holder}
		}
		return nil, fmt.Errorf("lock of data directory %s: %w", path, err)
	}
	if err := f.Truncate(0); err == nil {
		fmt.Fprintf(f, "process %d (%s)\n", os.Getpid(), strings.Join(os.Args, " "))
	}
	return &dataDir{path: path, lock: f}, nil
}

// inUse tells whether a process has the directory. What another one left behind, killed, says nothing of that.
func inUse(path string) bool {
	f, err := os.Open(filepath.Join(path, lockFile))
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// temporaryDataDir makes a directory that Close removes.
func temporaryDataDir() (*dataDir, error) {
	path, err := os.MkdirTemp("", "runnel-")
	if err != nil {
		return nil, fmt.Errorf("temporary data directory: %w", err)
	}
	return &dataDir{path: path, temporary: true}, nil
}

func (d *dataDir) file(elem ...string) string {
	return filepath.Join(append([]string{d.path}, elem...)...)
}

// Close gives the directory free, and removes a temporary one.
func (d *dataDir) Close() error {
	if d.temporary {
		return os.RemoveAll(d.path)
	}
	d.lock.Truncate(0)
	return d.lock.Close()
}
