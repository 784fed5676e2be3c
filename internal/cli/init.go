package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/archmax-ai/archmax/internal/authoring"
	"github.com/archmax-ai/archmax/internal/render"
)

type initOptions struct {
	deps *deps

	Dir  string // as given; "": the current directory
	Here bool
}

func newInitCmd(d *deps, runF func(context.Context, *initOptions) error) *cobra.Command {
	opts := &initOptions{deps: d}
	cmd := &cobra.Command{
		Use:     "init [dir]",
		Short:   "Write a small workspace that runs offline at once",
		GroupID: "author",
		Long: `Writes a small workspace: a workflow with cases and cassettes, a skill, house rules
and the configuration. It validates, and runs without a model. No file that is
there is overwritten, and a folder that is not empty needs --here.`,
		Example: `  archmax init support`,
		Args:    atMostOne,
	}
	cmd.Flags().BoolVar(&opts.Here, "here", false, "write into the folder although it is not empty")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			opts.Dir = args[0]
		}
		switch {
		case cmd.Flags().Changed("root"):
			return usageErr("init takes the workspace as its argument, not as --root")
		case len(args) > 0 && args[0] == "":
			return usageErr("the directory is empty")
		}
		if runF != nil {
			return runF(cmd.Context(), opts)
		}
		return initRun(cmd.Context(), opts)
	}
	return cmd
}

func initRun(_ context.Context, o *initOptions) error {
	files, err := authoring.Starter()
	if err != nil {
		return err
	}
	if err := writeNew(o.deps, o.Dir, o.Here, files); err != nil {
		return err
	}
	out := o.deps.io.Out
	fmt.Fprint(out, "\nNext:\n\n")
	if o.Dir != "" && o.Dir != "." {
		fmt.Fprintf(out, "  %s\n", render.Command("cd", o.Dir))
	}
	for _, argv := range [][]string{
		{"archmax", "validate", "--strict"},
		{"archmax", "test"},
		{"archmax", "graph", authoring.StarterWorkflow},
		{"archmax", "run", authoring.StarterWorkflow, authoring.StarterMessage, "--cassette", authoring.StarterCassette},
	} {
		fmt.Fprintf(out, "  %s\n", render.Command(argv...))
	}
	return nil
}

// writeNew writes files into a folder, none over one that is there, and says
// which. A folder that is not empty needs here.
func writeNew(d *deps, dir string, here bool, files []authoring.File) error {
	shown := dir
	if dir == "" {
		dir, shown = d.dir, "."
	}
	dir = d.absolute(dir)
	failed := func(err error) error {
		return &failure{message: fmt.Sprintf("cannot write into %s: %s", shown, cause(err)), hint: "name a directory that you may write to", err: err}
	}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return failed(err)
	case len(entries) > 0 && !here:
		return &failure{message: fmt.Sprintf("%s is not empty", shown), hint: "name a new folder, or give --here; no file is overwritten"}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return failed(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return failed(err)
	}
	defer root.Close()
	wrote, kept, err := authoring.Write(root, files)
	for _, name := range wrote {
		fmt.Fprintf(d.io.Out, "wrote %s\n", name)
	}
	for _, name := range kept {
		fmt.Fprintf(d.io.Out, "kept  %s (it is there already)\n", name)
	}
	var bad *authoring.WriteError
	if errors.As(err, &bad) {
		return &failure{message: fmt.Sprintf("cannot write %s in %s: %s", bad.Path, shown, cause(bad.Err)), hint: "make room for it, and run the command again with --here", err: err}
	}
	return err
}
