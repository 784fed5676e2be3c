//go:build !linux

package session

import "os"

// syncData makes a file's content and size durable.
func syncData(f *os.File) error { return f.Sync() }
