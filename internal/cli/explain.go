package cli

import (
	"context"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/archmax-ai/archmax/internal/explain"
)

type explainOptions struct {
	deps *deps

	ID string // "": all of them, a line each
}

func newExplainCmd(d *deps, runF func(context.Context, *explainOptions) error) *cobra.Command {
	opts := &explainOptions{deps: d}
	return &cobra.Command{
		Use:     "explain [code]",
		Short:   "Explain a diagnostic or a rule of governance: what it means, an example, the fix",
		GroupID: "author",
		Long: `Explains a diagnostic code, as in error[unknown-key], or the id of a rule, as in
tool.not-allowed. Without one, lists them all.`,
		Example: `  archmax explain unknown-key
  archmax explain tool.not-allowed`,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var ids []string
			for _, e := range explain.Entries() {
				if len(args) == 0 {
					ids = append(ids, e.ID)
				}
			}
			return ids, cobra.ShellCompDirectiveNoFileComp
		},
		Args: atMostOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				opts.ID = args[0]
				if m := printedCode.FindStringSubmatch(args[0]); m != nil {
					opts.ID = m[1]
				}
			}
			if runF != nil {
				return runF(cmd.Context(), opts)
			}
			return explainRun(cmd.Context(), opts)
		},
	}
}

// printedCode is a code as a diagnostic prints it, pasted whole.
var printedCode = regexp.MustCompile(`^(?:error|warning)\[(.+)\]:?$`)

func explainRun(_ context.Context, o *explainOptions) error {
	out := o.deps.io.Out
	if o.ID == "" {
		return explain.List(out)
	}
	e, ok := explain.Lookup(o.ID)
	if ok {
		return e.Text(out)
	}
	if near := explain.Near(o.ID); near != "" {
		return usageErr("unknown code %q (did you mean %s?)", o.ID, near)
	}
	return usageErr("unknown code %q; `archmax explain` lists them", o.ID)
}
