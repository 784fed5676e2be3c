package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/archmax-ai/archmax/internal/render"
	"github.com/archmax-ai/archmax/internal/runtime"
)

type graphOptions struct {
	deps   *deps
	locate func() (*Workspace, error)

	Workflow string // "": the session's, else the only one
	Format   string // mermaid, dot, text
	Session  string // whose path is marked; "": none
}

func newGraphCmd(d *deps, runF func(context.Context, *graphOptions) error) *cobra.Command {
	opts := &graphOptions{deps: d}
	cmd := &cobra.Command{
		Use:     "graph [workflow]",
		Short:   "Draw a workflow's machine, and the path a session took through it",
		GroupID: "author",
		Long: `Draws the machine: boxes and edges on a console, else Mermaid. Kinds of states and
terminal ones look different. With --session the path that the session took is
marked, with counts; a running session can be looked at.`,
		Example: `  archmax graph order-lookup
  archmax graph order-lookup --format dot
  archmax run "Where is ORD-1003?" --session lamp-3 --cassette testdata/cassettes/answer.yaml
  archmax graph --session lamp-3 --format text`,
		ValidArgsFunction: d.completeWorkflows,
		Args:              atMostOne,
	}
	opts.locate = func() (*Workspace, error) { return d.locate(cmd.Flags()) }
	fs := cmd.Flags()
	flagVar(fs, &opts.Format, "format", "format", "`FORMAT`: mermaid, dot or text (default: text on a console, else mermaid)", oneOf("mermaid", "dot", "text"))
	flagVar(fs, &opts.Session, "session", "id", "mark the path that the session `ID` took", parseID)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			opts.Workflow = args[0]
		}
		if opts.Format == "" {
			opts.Format = "mermaid"
			if d.io.OutTTY {
				opts.Format = "text"
			}
		}
		if runF != nil {
			return runF(cmd.Context(), opts)
		}
		return graphRun(cmd.Context(), opts)
	}
	return cmd
}

func graphRun(ctx context.Context, o *graphOptions) error {
	ws, err := o.locate()
	if err != nil {
		return err
	}
	var slug string
	var path *runtime.Path
	if o.Session != "" {
		slug, path, err = o.path(ctx, ws)
	} else {
		slug, err = onlyWorkflow(ws, o.Workflow)
	}
	if err != nil {
		return err
	}
	m, err := loadMachine(ws, slug)
	if err != nil {
		return err
	}
	out := o.deps.io.Out
	switch o.Format {
	case "dot":
		return render.GraphDOT(out, m, path)
	case "mermaid":
		return render.GraphMermaid(out, m, path)
	}
	return render.GraphText(out, o.deps.outStyle(), m, path)
}

// path reads the way a session took, without its lock: a turn may be at work.
func (o *graphOptions) path(ctx context.Context, ws *Workspace) (slug string, path *runtime.Path, err error) {
	store, err := openStore(ws)
	if err != nil {
		return "", nil, err
	}
	state, err := store.Load(ctx, o.Session)
	if err != nil {
		return "", nil, err
	}
	if o.Workflow != "" && o.Workflow != state.Workflow {
		if _, err := onlyWorkflow(ws, o.Workflow); err != nil {
			return "", nil, err
		}
		return "", nil, &failure{
			message: fmt.Sprintf("session %s ran the workflow %s, not %s", o.Session, state.Workflow, o.Workflow),
			hint:    "leave the workflow out",
		}
	}
	return state.Workflow, runtime.PathOf(state.Trail), nil
}

// onlyWorkflow is the workflow an argument names; left out, the workspace's only
// one.
func onlyWorkflow(ws *Workspace, named string) (string, error) {
	if named == "" {
		slug, _, err := pickWorkflow(ws, nil)
		return slug, err
	}
	slugs, err := ws.slugs()
	if err != nil {
		return "", err
	}
	return named, knownWorkflow(slugs, named)
}

// atMostOne refuses a second argument.
func atMostOne(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return noArgs(cmd, args[1:])
	}
	return nil
}
