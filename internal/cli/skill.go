package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/archmax-ai/archmax/internal/authoring"
	"github.com/archmax-ai/archmax/internal/spec"
)

type skillOptions struct {
	deps *deps

	Dir string // as given
}

func newSkillCmd(d *deps, runF func(context.Context, *skillOptions) error) *cobra.Command {
	opts := &skillOptions{deps: d}
	return &cobra.Command{
		Use:     "skill [dir]",
		Short:   "Write the skill that teaches a coding agent to author workflows",
		GroupID: "author",
		Long: `Writes the authoring skill: a SKILL.md with references (the language, cases,
diagnostics) that teaches a coding agent to write, check and test workflows. Put it
where your agent looks for skills. Run it again after an upgrade: what it wrote
before is replaced, a file of your own never is.`,
		Example: `  archmax skill
  archmax skill .claude/skills/archmax-authoring`,
		Args: atMostOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Dir = authoring.SkillName
			if len(args) > 0 {
				opts.Dir = args[0]
			}
			if opts.Dir == "" {
				return usageErr("the directory is empty")
			}
			if runF != nil {
				return runF(cmd.Context(), opts)
			}
			return skillRun(cmd.Context(), opts)
		},
	}
}

func skillRun(_ context.Context, o *skillOptions) error {
	dir := o.deps.absolute(o.Dir)
	name := authoring.SkillName
	if base := filepath.Base(dir); spec.ValidSlug(base) {
		name = base // agents want the two to be equal
	}
	files, err := authoring.Skill(name)
	if err != nil {
		return err
	}
	failed := func(err error) error {
		return &failure{message: fmt.Sprintf("cannot write into %s: %s", o.Dir, cause(err)), hint: "name a directory that you may write to", err: err}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return failed(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return failed(err)
	}
	defer root.Close()
	wrote, err := authoring.WriteSkill(root, files)
	out := o.deps.io.Out
	for _, file := range wrote {
		fmt.Fprintf(out, "wrote %s\n", filepath.ToSlash(filepath.Join(o.Dir, filepath.FromSlash(file))))
	}
	var foreign *authoring.ForeignError
	var bad *authoring.WriteError
	switch {
	case errors.As(err, &foreign):
		return &failure{message: fmt.Sprintf("%s in %s was not written by archmax", foreign.Path, o.Dir), hint: "move it away, or name another directory; nothing was written", err: err}
	case errors.As(err, &bad):
		return &failure{message: fmt.Sprintf("cannot write %s in %s: %s", bad.Path, o.Dir, cause(bad.Err)), hint: "make room for it, and run the command again", err: err}
	case err != nil:
		return err
	case len(wrote) == 0:
		fmt.Fprintf(out, "%s is up to date\n", o.Dir)
	}
	return nil
}
