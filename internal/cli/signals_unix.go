//go:build unix

package cli

import (
	"os"
	"syscall"
)

// quit is Ctrl-\. Left alone, it would end the program with a dump of its
// goroutines.
const quit = syscall.SIGQUIT

// ending are the signals that end a command in good order.
var ending = []os.Signal{os.Interrupt, syscall.SIGTERM, quit}
