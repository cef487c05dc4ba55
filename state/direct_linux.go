package state

import (
	"os"

	"golang.org/x/sys/unix"
)

// directFlag opens a file for direct writes.
const directFlag = unix.O_DIRECT

// undirect lets the writes of a file go through the page cache from now on.
func undirect(f *os.File) error {
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	if err == nil {
		_, err = unix.FcntlInt(f.Fd(), unix.F_SETFL, flags&^unix.O_DIRECT)
	}
	return os.NewSyscallError("fcntl", err)
}
