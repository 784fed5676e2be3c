package cli

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/archmax-ai/archmax/internal/casetest"
	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/governance"
	"github.com/archmax-ai/archmax/internal/render"
	"github.com/archmax-ai/archmax/internal/validate"
)

type validateOptions struct {
	deps   *deps
	locate func() (*Workspace, error)

	Workflows []string // none: all
	Format    string   // text, json, github
	Strict    bool
}

func newValidateCmd(d *deps, runF func(context.Context, *validateOptions) error) *cobra.Command {
	opts := &validateOptions{deps: d}
	cmd := &cobra.Command{
		Use:     "validate [workflow…]",
		Short:   "Check workflows and the workspace's configuration, without a model",
		GroupID: "author",
		Long: `Checks workflows (all of them by default) and archmax.yaml. Problems go to standard
error, each with its place and the fix; the verdict goes to standard output. The
exit code is 1 when there is an error, with --strict also when there is a warning.`,
		Example: `  archmax validate
  archmax validate order-lookup --strict
  archmax validate --format github`,
		ValidArgsFunction: d.completeWorkflows,
	}
	opts.locate = func() (*Workspace, error) { return d.locate(cmd.Flags()) }
	fs := cmd.Flags()
	var asJSON bool
	fs.BoolVar(&asJSON, "json", false, "print one JSON document, like --format json")
	opts.Format = "text"
	flagVar(fs, &opts.Format, "format", "format", "`FORMAT`: text (default), json, or github for annotations", oneOf("text", "json", "github"))
	fs.BoolVar(&opts.Strict, "strict", false, "warnings fail too")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if asJSON && cmd.Flags().Changed("format") && opts.Format != "json" {
			return usageErr("--json and --format %s ask for two formats; give one", opts.Format)
		}
		if asJSON {
			opts.Format = "json"
		}
		opts.Workflows = args
		if runF != nil {
			return runF(cmd.Context(), opts)
		}
		return validateRun(cmd.Context(), opts)
	}
	return cmd
}

func validateRun(_ context.Context, o *validateOptions) error {
	ws, err := o.locate()
	if err != nil {
		return err
	}
	slugs, err := ws.slugs()
	if err != nil {
		return err
	}
	chosen := slugs
	var strays []validate.Result
	if len(o.Workflows) == 0 {
		strays = validate.Strays(ws.FS())
	}
	for _, r := range strays {
		if len(slugs) == 0 { // then it is the mistake
			r.Diagnostics[0].Severity = diag.Error
		}
	}
	if len(o.Workflows) > 0 {
		chosen = o.Workflows
		for _, slug := range chosen {
			if isDir(ws.Root, "workflows", slug) {
				continue // the loader says what is missing in it
			}
			if err := knownWorkflow(slugs, slug); err != nil {
				return err
			}
		}
	}
	if len(chosen)+len(strays) == 0 {
		return noWorkflows(ws)
	}
	shared, in := o.deps.validateWorkspace(ws)
	results, err := validate.Workspace(in, chosen...)
	if err != nil {
		return err
	}
	var checked []render.Checked
	all := slices.Clone(shared)
	results = append(results, strays...)
	slices.SortStableFunc(results, func(a, b validate.Result) int {
		if len(o.Workflows) > 0 {
			return 0 // as they were asked for
		}
		return strings.Compare(a.Workflow, b.Workflow)
	})
	for _, r := range results {
		if r.Machine != nil {
			r.Diagnostics = append(r.Diagnostics, casetest.Static(ws.FS(), r.Machine, in.Mounts...)...)
		} else if isDir(ws.Root, "workflows", r.Workflow) {
			r.Diagnostics = append(r.Diagnostics, casetest.StaticAlone(ws.FS(), r.Workflow)...)
		}
		r.Diagnostics.Sort()
		// What is wrong with the workspace is wrong for every workflow in it.
		checked = append(checked, render.Checked{Workflow: r.Workflow, List: slices.Concat(shared, r.Diagnostics)})
		all = append(all, r.Diagnostics...)
	}
	return o.report(ws, checked, all)
}

// validateWorkspace checks what all workflows share: archmax.yaml and the
// mounts and skills that it and the default table serve. It returns what the
// checks of a workflow hold it against; after an error, as much as is known.
func (d *deps) validateWorkspace(ws *Workspace) (diag.List, validate.Input) {
	config, problems := readConfig(ws.FS(), d.secrets)
	with := *ws
	if with.Config = config; config == nil || problems.HasErrors() {
		with.Config = &Config{}
	}
	shared, more := openMounts(&with)
	defer shared.Close()
	in := validate.Input{Root: ws.FS(), Mounts: shared.Table(), MaxDepth: with.Config.SubWorkflows.MaxDepth}
	for _, s := range shared.Skills() {
		in.Skills = append(in.Skills, s.Slug)
	}
	if problems.HasErrors() { // the tools are not known
		return problems, in
	}
	in.Tools = []governance.ToolInfo{}
	for _, t := range config.Tools {
		in.Tools = append(in.Tools, governance.ToolInfo{Name: t.Name, Paths: t.Paths})
	}
	for _, name := range config.EssentialTools {
		in.Essential = append(in.Essential, name.Value)
	}
	problems = slices.Concat(problems, more, shared.CheckSkills())
	problems.Sort()
	return problems, in
}

func (o *validateOptions) report(ws *Workspace, checked []render.Checked, all diag.List) error {
	d := o.deps
	doc := render.NewDiagnostics(checked, o.Strict)
	var err error
	switch o.Format {
	case "json":
		err = render.JSON(d.io.Out, doc)
	case "github":
		if err = render.DiagnosticsGitHub(d.io.Out, all); err == nil {
			_, err = fmt.Fprintln(d.io.Out, render.ValidateSummary(all, o.Strict))
		}
	default:
		if !d.global.Quiet {
			_ = render.DiagnosticsText(d.io.Err, d.errStyle(), all, sourceIn(ws.Root)) // standard error is best effort
		}
		_, err = fmt.Fprintln(d.io.Out, render.ValidateSummary(all, o.Strict))
	}
	if err == nil && !doc.Valid {
		err = statusError{ExitFailure}
	}
	return err
}

// sourceIn reads the files that diagnostics name, relative to root.
func sourceIn(root string) render.Source {
	return func(file string) ([]byte, bool) {
		if !filepath.IsAbs(file) {
			file = filepath.Join(root, filepath.FromSlash(file))
		}
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() { // a FIFO gives its text once
			return nil, false
		}
		b, err := readFile(context.Background(), file, maxFile)
		return b, err == nil
	}
}

func isDir(root string, parts ...string) bool {
	name := filepath.ToSlash(filepath.Join(parts...))
	if !fs.ValidPath(name) {
		return false
	}
	info, err := fs.Stat(os.DirFS(root), name)
	return err == nil && info.IsDir()
}
