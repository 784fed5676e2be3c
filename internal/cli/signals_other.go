//go:build !unix

package cli

import (
	"os"
	"syscall"
)

// quit is a signal that never comes: this system has none for Ctrl-\.
const quit = syscall.Signal(-1)

// ending are the signals that end a command in good order. SIGTERM stands for
// a console window that is closed, a logoff or a shutdown.
var ending = []os.Signal{os.Interrupt, syscall.SIGTERM}
