package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/archmax-ai/archmax/internal/casetest"
	"github.com/archmax-ai/archmax/internal/render"
	"github.com/archmax-ai/archmax/internal/session"
)

// testFrom writes a case and its cassette from a session (--from).
func testFrom(ctx context.Context, o *testOptions) error {
	d := o.deps
	ws, err := o.open()
	if err != nil {
		return err
	}
	store, err := openStore(ws)
	if err != nil {
		return err
	}
	slug, err := workflowOf(ctx, store, session.Root(o.From))
	if err != nil {
		return err
	}
	m, err := loadMachine(ws, slug)
	if err != nil {
		return err
	}
	if err := o.runnable(ws, m); err != nil {
		return err
	}
	template, err := runtimeTemplate(ws)
	if err != nil {
		return err
	}
	defer template.Shared.Close()
	opts := casetest.DraftOptions{Store: store, Session: o.From, Machine: m, Runtime: template, Secrets: d.secrets.list()}
	if len(o.Args) > 0 {
		opts.Name = o.Args[0]
	}
	draft, err := casetest.FromSession(ctx, opts)
	var misuse *casetest.OptionError
	switch {
	case errors.As(err, &misuse):
		return &UsageError{Message: misuse.Message, Err: err}
	case err != nil:
		return err
	}
	root, err := os.OpenRoot(ws.Root)
	if err != nil {
		return &failure{message: fmt.Sprintf("cannot open the workspace %s: %s", d.short(ws.Root), cause(err)), err: err}
	}
	defer root.Close()
	if err := draft.Write(root); err != nil {
		return err
	}
	return o.told(draft)
}

// told prints the files that were written, and on standard error what the case
// leaves out and the command that runs it.
func (o *testOptions) told(draft *casetest.Draft) error {
	d := o.deps
	if !d.global.Quiet {
		for _, n := range draft.Notes {
			fmt.Fprintln(d.io.Err, render.OneLine(n))
		}
		words := append([]string{"archmax", "test", draft.Workflow, draft.ID}, d.verdictOptions().Flags...)
		fmt.Fprintf(d.io.Err, "the case passes as it is; trim it, and run it with: %s\n", render.Command(words...))
	}
	if o.JSON {
		return render.JSON(d.io.Out, draft)
	}
	for _, f := range draft.Files {
		if _, err := fmt.Fprintln(d.io.Out, f.Path); err != nil {
			return err
		}
	}
	return nil
}
