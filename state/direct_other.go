//go:build !linux

package state

import "os"

// directFlag opens a file for direct writes, which this system does not have.
const directFlag = 0

func undirect(*os.File) error { return nil }
