// Command archmax authors and runs governed agent workflows.
package main

import (
	"os"

	"github.com/archmax-ai/archmax/internal/cli"
)

func main() { os.Exit(cli.Main()) }
