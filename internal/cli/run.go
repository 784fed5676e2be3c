package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/render"
	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/spec"
)

type runOptions struct {
	*arrivalOptions

	Args        []string // [workflow] message…
	Session     string
	SessionPath string
	DryRun      bool
	turnFlags
}

// turnFlags are what run and send both bring to a turn.
type turnFlags struct {
	Trigger   string
	Variables string
	Vars      assignments
	Files     attachments
}

func (t *turnFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	flagVar(fs, &t.Trigger, "trigger", "id", "the trigger `ID` that fires (default manual)", parseText)
	flagVar(fs, &t.Variables, "variables", "json", "variables as a `JSON` object, @file or -", parseText)
	fs.Var(&t.Vars, "var", "one variable: name=value for a string, name:=json for any value")
	fs.Var(&t.Files, "file", "put a file into the session and its path into a variable")
}

// words is everything that an arrival brings of the command line, files and
// standard input.
func (t *turnFlags) words(ctx context.Context, d *deps, args []string) (m runtime.Message, err error) {
	in := &input{ctx: ctx, stdin: d.io.In, dir: d.dir}
	if m.Text, m.HasText, err = in.message(args); err != nil {
		return m, err
	}
	if m.Variables, err = in.seeds(t.Variables, t.Vars); err != nil {
		return m, err
	}
	m.Trigger = t.Trigger
	m.Files, err = in.files(t.Files, m.Variables)
	return m, err
}

func newRunCmd(d *deps, runF func(context.Context, *runOptions) error) *cobra.Command {
	opts := &runOptions{}
	cmd := &cobra.Command{
		Use:     "run [workflow] [message…]",
		Short:   "Run one turn of a workflow",
		GroupID: "sessions",
		Long: `Runs one turn: on a fresh session, or on the one that --session, --session-path
or the trigger's path names. Standard output holds the reply alone.

The workflow may be left out when the workspace has one. The message may be - for
standard input, or @file; words are joined by a space.`,
		Example: `  archmax run order-lookup "Where is my desk lamp, ORD-1003?" --cassette testdata/cassettes/answer.yaml
  archmax run "I want my money back for ORD-1002." --session refund-1 --cassette testdata/cassettes/refund.yaml
  archmax run order-lookup "Where is ORD-1003?" --dry-run`,
		ValidArgsFunction: d.completeWorkflows,
	}
	opts.arrivalOptions = addArrivalFlags(cmd, d)
	opts.turnFlags.add(cmd)
	fs := cmd.Flags()
	flagVar(fs, &opts.Session, "session", "id", "the session's `ID`; it is opened when there is none", parseID)
	flagVar(fs, &opts.SessionPath, "session-path", "path", "a dotted `PATH` over the variables that holds the session's id", parseDottedPath)
	fs.BoolVar(&opts.Ephemeral, "ephemeral", false, "keep nothing; a park then ends the session failed")
	fs.BoolVar(&opts.DryRun, "dry-run", false, "tell which session, disposition and signature issues; no model, nothing written")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		opts.Args = args
		if err := opts.check(); err != nil {
			return err
		}
		if opts.Session != "" && opts.SessionPath != "" {
			return usageErr("--session and --session-path both name the session; give one")
		}
		if runF != nil {
			return runF(cmd.Context(), opts)
		}
		return runRun(cmd.Context(), opts)
	}
	return cmd
}

func parseDottedPath(text string) (string, error) {
	if !spec.ValidDottedPath(text) {
		return "", fmt.Errorf("give a dotted path such as order.id or triggers.-1.conversationId")
	}
	return text, nil
}

func runRun(ctx context.Context, o *runOptions) error {
	d := o.deps
	ws, err := o.locate()
	if err != nil {
		return err
	}
	slug, words, err := pickWorkflow(ws, o.Args)
	if err != nil {
		return err
	}
	msg, err := o.words(ctx, d, words)
	if err != nil {
		return err
	}
	msg.Workflow, msg.Session, msg.SessionPath, msg.Key = slug, o.Session, o.SessionPath, o.Key
	if ws, err = o.open(); err != nil {
		return err
	}
	m, err := loadMachine(ws, slug)
	if err != nil {
		return err
	}
	store, err := o.store(ws)
	if err != nil {
		return err
	}
	if o.DryRun {
		return o.plan(ctx, ws, m, store, msg)
	}
	if done, err := o.prepare(ctx, ws, m, store, &msg, d.io.CanAsk() && !o.JSON); done || err != nil {
		return err
	}
	return o.arrive(ctx, ws, m, store, func(ctx context.Context, api runtime.API) (*runtime.Outcome, error) {
		return api.Send(ctx, msg)
	})
}

// store is where the session is kept: nowhere with --ephemeral.
func (o *runOptions) store(ws *Workspace) (session.Store, error) {
	if o.Ephemeral {
		return openMemory(), nil
	}
	return openStore(ws)
}

// plan prints what an arrival would be (--dry-run).
func (o *arrivalOptions) plan(ctx context.Context, ws *Workspace, m *spec.Machine, store session.Store, msg runtime.Message) error {
	api, err := openRuntime(ws, m, wiring{store: store, options: o, planOnly: true})
	if err != nil {
		return err
	}
	plan, err := api.Plan(ctx, msg)
	if err != nil {
		return o.refusal(err)
	}
	if m.Disabled && plan.Disposition == runtime.DispositionTurn {
		plan.Issues = append(plan.Issues, spec.Issue{Kind: issueDisabled, Name: m.Slug, Message: fmt.Sprintf("workflow %q is disabled: it takes no new turns", m.Slug)})
	}
	if err := render.JSON(o.deps.io.Out, plan); err != nil {
		return err
	}
	if len(plan.Issues) > 0 && o.ExitStatus {
		return statusError{ExitRejected}
	}
	return nil
}

// issueDisabled is the kind of a plan's issue with a workflow that takes no new
// turns.
const issueDisabled = "disabled"

// prepare does what comes before a model is looked for: an arrival that came
// before is told again (then it is done), a message that is missing is a usage
// error, and with ask a person is asked for what the trigger requires.
func (o *arrivalOptions) prepare(ctx context.Context, ws *Workspace, m *spec.Machine, store session.Store, msg *runtime.Message, ask bool) (done bool, err error) {
	trigger := triggerOf(m, msg.Trigger)
	ask = ask && trigger != nil && len(trigger.Requires) > 0
	if o.Key == "" && msg.HasText && !ask {
		return false, nil
	}
	if msg.Workflow == "" { // the session is named and there
		if done, err := o.retold(ctx, m, store, msg.Session); done || msg.HasText {
			return done, err
		}
	}
	api, err := openRuntime(ws, m, wiring{store: store, options: o, planOnly: true})
	if err != nil {
		return false, err
	}
	plan, err := api.Plan(ctx, *msg)
	if err != nil {
		return false, nil // the turn itself will say it
	}
	if done, err := o.retold(ctx, m, store, plan.SessionID); done {
		return true, err
	}
	if plan.Disposition == runtime.DispositionTurn && !m.Disabled {
		if err := lacksMessage(trigger, msg); err != nil {
			return false, err
		}
	}
	if !ask {
		return false, nil
	}
	return false, o.askMissing(ctx, trigger, plan, msg)
}

func triggerOf(m *spec.Machine, id string) *spec.Trigger {
	if id == "" {
		id = spec.Manual
	}
	trigger, _ := m.Trigger(id)
	return trigger
}

// lacksMessage is the usage error for a turn that has no words: it brings none,
// and its trigger neither does without nor finds them in the variables.
func lacksMessage(trigger *spec.Trigger, msg *runtime.Message) error {
	switch {
	case msg.HasText, trigger == nil, trigger.NoMessage:
		return nil
	case trigger.Message == "":
		return usageErr("the message is missing: give it as words, as @file, or as - for standard input")
	}
	found, _ := spec.LookupDotted(seedValues(msg.Variables), trigger.Message)
	if text, ok := found.(string); ok && strings.TrimSpace(text) != "" {
		return nil
	}
	return usageErr("the message is missing: trigger %q finds none at %s in the variables; give that variable, or the message as words, as @file, or as -", trigger.ID, trigger.Message)
}

// askMissing asks a person for what the trigger requires and the arrival does
// not bring.
func (o *arrivalOptions) askMissing(ctx context.Context, trigger *spec.Trigger, plan *runtime.Plan, msg *runtime.Message) error {
	a := newAsker(ctx, o.deps)
	for _, issue := range plan.Issues {
		at := slices.IndexFunc(trigger.Requires, func(e *spec.Entry) bool { return e.Name == issue.Name })
		if issue.Kind != spec.IssueMissing || at < 0 {
			continue
		}
		if err := a.entry(trigger.Requires[at], o.today(), msg); err != nil {
			return err
		}
	}
	return nil
}

// pickWorkflow tells the workflow from the message: a first argument that is a
// workflow's slug is it, and a near miss of one is a mistake. It may be left
// out when the workspace has one.
func pickWorkflow(ws *Workspace, args []string) (slug string, rest []string, err error) {
	slugs, err := ws.slugs()
	if err != nil {
		return "", nil, err
	}
	if len(slugs) == 0 {
		return "", nil, noWorkflows(ws)
	}
	if len(args) > 0 {
		if slices.Contains(slugs, args[0]) {
			return args[0], args[1:], nil
		}
		if near := diag.Nearest(args[0], slugs); near != "" {
			return "", nil, usageErr("unknown workflow %q (did you mean %s?)", args[0], near)
		}
	}
	if len(slugs) == 1 {
		return slugs[0], args, nil
	}
	if len(args) > 0 && spec.ValidSlug(args[0]) {
		return "", nil, usageErr("unknown workflow %q; this workspace has %s", args[0], strings.Join(slugs, ", "))
	}
	return "", nil, usageErr("name the workflow first; this workspace has %s", strings.Join(slugs, ", "))
}

func noWorkflows(ws *Workspace) error {
	return &failure{code: "no-workflows", message: fmt.Sprintf("no workflow in %s/workflows", ws.Root), hint: fmt.Sprintf("`%s` makes one, and --root names another workspace", ws.initCommand())}
}

// initCommand is the command that makes a workflow in w, ready to be pasted.
func (w *Workspace) initCommand() string {
	words := []string{"archmax", "init"}
	if w.Root != w.dir {
		words = append(words, shortPath(w.dir, w.Root))
	}
	if entries, err := os.ReadDir(w.Root); err != nil || len(entries) > 0 {
		words = append(words, "--here")
	}
	return render.Command(words...)
}
