package cli

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

// newHelpCmd is `archmax help [command | topic]`.
func newHelpCmd(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [command or topic]",
		Short: "Help about a command or a topic",
		Example: `  archmax help run
  archmax help exit-codes`,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			if len(args) == 0 {
				for _, c := range root.Commands() {
					names = append(names, c.Name())
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			cmd := root
			for _, word := range args {
				next := child(cmd, word)
				if next == nil {
					return unknownCommand(cmd, word)
				}
				cmd = next
			}
			cmd.InitDefaultHelpFlag()
			return cmd.Help()
		},
	}
}

// newTopic is a help topic: a text, and no command.
func newTopic(name, short, text string) *cobra.Command {
	cmd := &cobra.Command{Use: name, Short: short, Long: text}
	cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) { fmt.Fprint(cmd.OutOrStdout(), text) })
	return cmd
}

func newExitCodesTopic() *cobra.Command {
	return newTopic("exit-codes", "What the exit codes mean", exitCodesHelp)
}

// newEnvironmentTopic lists the environment variables, from the one table that
// reads them.
func newEnvironmentTopic() *cobra.Command {
	var b strings.Builder
	b.WriteString("Environment variables of archmax, also read from .env in the workspace and then\nin the current directory. Flags outrank them; they outrank archmax.yaml.\n\n")
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, s := range settingTable {
		if s.env != "" {
			fmt.Fprintf(w, "  %s\t%s\n", s.env, s.help)
		}
	}
	fmt.Fprint(w, "  OPENAI_API_KEY, OPENAI_BASE_URL\tused where the archmax ones are not set\n")
	fmt.Fprint(w, "  NO_COLOR, CLICOLOR_FORCE\tno colours; colours whatever the stream\n")
	w.Flush()
	return newTopic("environment", "The environment variables that are read", b.String())
}
