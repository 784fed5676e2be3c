package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// commandFirst moves the words that name a command to the front, so that flags
// work in any position: cobra itself takes the word after a flag it does not
// know yet for that flag's value (`archmax --json run hello`). What follows
// "--" stays as it is.
func commandFirst(root *cobra.Command, args []string) []string {
	takesValue, mayTake := valueFlags(root)
	var path, rest []string
	cmd := root
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			rest = append(rest, args[i:]...)
			break
		}
		if strings.HasPrefix(arg, "-") && arg != "-" {
			rest = append(rest, arg)
			name := strings.TrimPrefix(arg, "--")
			if takesValue[name] && i+1 < len(args) && (!mayTake[name] || child(cmd, args[i+1]) == nil) {
				i++
				rest = append(rest, args[i])
			}
			continue
		}
		next := child(cmd, arg)
		if next == nil {
			rest = append(rest, args[i:]...)
			break
		}
		path, cmd = append(path, arg), next
		if !next.HasSubCommands() {
			rest = append(rest, args[i+1:]...)
			break
		}
	}
	return append(path, rest...)
}

// strayFile finds a file that was meant for a flag whose value is optional and
// so comes behind "=" only: `--events out.jsonl` would make it a word of the
// message. What looks like a path, and is no @file, is taken for one.
func strayFile(root *cobra.Command, args []string) error {
	cmd, optional := root, map[string]string{"--events": `\/.`, "--coverage": "."} // case ids hold slashes
	for i, arg := range args {
		if arg == "--" {
			return nil
		}
		if next := child(cmd, arg); next != nil {
			cmd = next
		}
		marks, known := optional[arg]
		if !known || i+1 == len(args) || cmd.Flags().Lookup(arg[2:]) == nil || cmd.Flags().Lookup(arg[2:]).NoOptDefVal != "-" {
			continue
		}
		file := args[i+1]
		if strings.ContainsAny(file, marks) && !strings.ContainsAny(file, " \t\n") && !strings.HasPrefix(file, "@") && !strings.HasPrefix(file, "-") {
			return &UsageError{Command: cmd.CommandPath(), Message: fmt.Sprintf("%s takes its file behind an equals sign: %s=%s; if it is an argument of its own, put it before the flag", arg, arg, file)}
		}
	}
	return nil
}

func child(cmd *cobra.Command, name string) *cobra.Command {
	for _, c := range cmd.Commands() {
		if c.Name() == name || slices.Contains(c.Aliases, name) {
			return c
		}
	}
	return nil
}

// valueFlags are the names of all flags, of any command, that take the next
// argument as their value, and those that do so in some commands only (--record):
// before one of these, the name of a command is a command.
func valueFlags(cmd *cobra.Command) (takes, may map[string]bool) {
	takes, may = map[string]bool{}, map[string]bool{}
	add := func(f *pflag.Flag) {
		if f.NoOptDefVal == "" {
			takes[f.Name] = true
		} else {
			may[f.Name] = true
		}
	}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		c.PersistentFlags().VisitAll(add)
		c.LocalFlags().VisitAll(add)
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(cmd)
	return takes, may
}
