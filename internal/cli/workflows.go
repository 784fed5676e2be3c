package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/render"
	"github.com/archmax-ai/archmax/internal/spec"
)

type workflowsOptions struct {
	deps   *deps
	locate func() (*Workspace, error)

	Slug string // "": the listing
	JSON bool
}

func newWorkflowsCmd(d *deps, runF func(context.Context, *workflowsOptions) error) *cobra.Command {
	opts := &workflowsOptions{deps: d}
	cmd := &cobra.Command{
		Use:     "workflows [slug]",
		Short:   "List the workflows with their triggers and signatures, or show one",
		GroupID: "author",
		Example: `  archmax workflows
  archmax workflows order-lookup`,
		ValidArgsFunction: d.completeWorkflows,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return noArgs(cmd, args[1:])
			}
			return nil
		},
	}
	opts.locate = func() (*Workspace, error) { return d.locate(cmd.Flags()) }
	cmd.Flags().BoolVar(&opts.JSON, "json", false, "print one JSON document")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			opts.Slug = args[0]
		}
		if runF != nil {
			return runF(cmd.Context(), opts)
		}
		return workflowsRun(cmd.Context(), opts)
	}
	return cmd
}

func workflowsRun(_ context.Context, o *workflowsOptions) error {
	ws, err := o.locate()
	if err != nil {
		return err
	}
	slugs, err := ws.slugs()
	if err != nil {
		return err
	}
	d := o.deps
	if o.Slug != "" {
		if err := knownWorkflow(slugs, o.Slug); err != nil {
			return err
		}
		m, err := loadMachine(ws, o.Slug)
		if err != nil {
			return err
		}
		if o.JSON {
			return render.JSON(d.io.Out, render.OneWorkflow(m))
		}
		return render.OneWorkflowText(d.io.Out, d.outStyle(), render.OneWorkflow(m))
	}
	var list []render.WorkflowInfo
	for _, slug := range slugs {
		m, problems := spec.Load(ws.FS(), slug)
		if err := problems.Err(); err != nil {
			list = append(list, render.BrokenWorkflow(slug, err))
			continue
		}
		list = append(list, render.ListedWorkflow(m))
	}
	if o.JSON {
		return render.JSON(d.io.Out, render.NewWorkflows(list))
	}
	if len(list) == 0 {
		_, err := fmt.Fprintf(d.io.Out, "no workflows; `%s` makes one\n", ws.initCommand())
		return err
	}
	return render.WorkflowsTable(d.io.Out, d.outStyle(), render.NewWorkflows(list))
}

// knownWorkflow is the usage error for an argument that names no workflow.
func knownWorkflow(slugs []string, slug string) error {
	switch {
	case slices.Contains(slugs, slug):
		return nil
	case len(slugs) == 0:
		return usageErr("unknown workflow %q; this workspace has none", slug)
	}
	if near := diag.Nearest(slug, slugs); near != "" {
		return usageErr("unknown workflow %q (did you mean %s?)", slug, near)
	}
	return usageErr("unknown workflow %q; this workspace has %s", slug, strings.Join(slugs, ", "))
}
