package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

func newCompletionCmd(d *deps) *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion <shell>",
		Short: "Print a completion script for bash, zsh, fish or powershell",
		Example: `  source <(archmax completion bash)
  archmax completion zsh > "${fpath[1]}/_archmax"`,
		ValidArgs: shells,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageErr("name one shell: %s", strings.Join(shells, ", "))
			}
			_, err := oneOf(shells...)(args[0])
			if err != nil {
				return usageErr("unknown shell %q: %s", args[0], err)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(d.io.Out, true)
			case "zsh":
				return root.GenZshCompletion(d.io.Out)
			case "fish":
				return root.GenFishCompletion(d.io.Out, true)
			default:
				return root.GenPowerShellCompletionWithDesc(d.io.Out)
			}
		},
	}
}

// noArgs refuses any argument.
func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageErr("unexpected argument %q", args[0])
	}
	return nil
}

// completeWorkflows offers the workspace's workflows for the first argument.
func (d *deps) completeWorkflows(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ws, err := d.locate(cmd.Flags())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	slugs, _ := ws.slugs() // completion has nobody to tell of an error
	return slugs, cobra.ShellCompDirectiveNoFileComp
}

// completeSessions offers the ids of the workspace's sessions for the first
// argument.
func (d *deps) completeSessions(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ws, err := d.locate(cmd.Flags())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var ids []string
	if store, err := openStore(ws); err == nil {
		entries, _ := store.List(cmd.Context()) // completion has nobody to tell of an error
		for _, e := range entries {
			ids = append(ids, e.ID)
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}
