package state

import (
	"fmt"
	"syscall"
)

// spareSpace is what a disk must have left for a checkpoint. Badger writes its index through mapped files without having asked for
// their space: on a full disk that ends the process with a signal which nothing can catch, so writing stops before. The
// figure is the tables in memory on their way to disk and what compactions hold twice in the meantime, and values that are
// not written yet.
const spareSpace = 32<<20 + directPiece

// room checks that the disk can take a value and that what Badger does in the background has space beside it.
func (k *badgerKV) room(size int) error {
	free, err := k.free(k.path)
	if err != nil {
		return fmt.Errorf("free space of %s: %w", k.path, err)
	}
	if need := int64(size) + spareSpace; free < need {
		return &ErrDiskFull{Dir: k.path, Free: free, Need: need}
	}
	return nil
}

// ErrDiskFull says that a checkpoint was not written because the disk is almost full.
type ErrDiskFull struct {
	Dir        string
	Free, Need int64
}

// Error names the disk and what helps.
func (e *ErrDiskFull) Error() string {
	return fmt.Sprintf("the disk of %s is full: %d MB are free, a checkpoint needs %d MB; free some space or use a data directory on another disk (--data DIR)",
		e.Dir, e.Free>>20, e.Need>>20)
}

// freeSpace gives the bytes that the disk of a directory has left for this user.
func freeSpace(dir string) (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}
