//go:build !unix

package kafka

import (
	"errors"
	"os"
)

// lockFile is not to be had on this system, and without it two processes could write one directory.
func lockFile(string) (*os.File, error) {
	return nil, errors.New("the embedded broker needs flock, which this system does not have")
}
