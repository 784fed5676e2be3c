package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/archmax-ai/archmax/internal/render"
	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/spec"
)

type deliverOptions struct {
	*arrivalOptions

	ID          string
	SessionPath string
	Trigger     string
	Variables   string
	Vars        assignments
	Message     string
	Due         bool
}

func newDeliverCmd(d *deps, runF func(context.Context, *deliverOptions) error) *cobra.Command {
	opts := &deliverOptions{}
	cmd := &cobra.Command{
		Use:     "deliver [session] --trigger <id>",
		Short:   "Resume a session that waits for input",
		GroupID: "sessions",
		Long: `Resumes a session that waits for input. --session-path finds the session from the
variables; --due resumes every session whose time has come, with a line each.`,
		Example: `  archmax run "Has my rain jacket been sent?" --session jacket-2 --cassette testdata/cassettes/wait.yaml
  archmax deliver jacket-2 --trigger manual --message "It is ORD-1004." --cassette testdata/cassettes/wait.yaml
  archmax deliver --due --trigger timer`,
		ValidArgsFunction: d.completeSessions,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return sessionOnly(cmd, args)
		},
	}
	opts.arrivalOptions = addArrivalFlags(cmd, d)
	fs := cmd.Flags()
	flagVar(fs, &opts.Trigger, "trigger", "id", "the trigger `ID` that is delivered", parseText)
	flagVar(fs, &opts.Variables, "variables", "json", "variables as a `JSON` object, @file or -", parseText)
	fs.Var(&opts.Vars, "var", "one variable: name=value for a string, name:=json for any value")
	flagVar(fs, &opts.Message, "message", "text", "a person's words that come along: `TEXT`, @file or -", func(text string) (string, error) {
		if strings.TrimSpace(text) == "" {
			return "", errors.New("the message is empty")
		}
		return text, nil
	})
	flagVar(fs, &opts.SessionPath, "session-path", "path", "a dotted `PATH` over the variables that holds the session's id", parseDottedPath)
	fs.BoolVar(&opts.Due, "due", false, "every session whose time has come")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			opts.ID = args[0]
		}
		if err := opts.check(); err != nil {
			return err
		}
		if runF != nil {
			return runF(cmd.Context(), opts)
		}
		return deliverRun(cmd.Context(), opts)
	}
	return cmd
}

func (o *deliverOptions) check() error {
	ways := 0
	for _, given := range []bool{o.ID != "", o.SessionPath != "", o.Due} {
		if given {
			ways++
		}
	}
	switch {
	case ways == 0:
		return usageErr("name the session, or find it with --session-path, or deliver to all with --due")
	case ways > 1:
		return usageErr("a session, --session-path and --due each say where to deliver; give one")
	case o.Trigger == "":
		return usageErr("--trigger is missing: it says what is delivered")
	case o.Due && o.Returns:
		return usageErr("--returns prints one session's returns; with --due use --json")
	}
	return o.arrivalOptions.check()
}

func deliverRun(ctx context.Context, o *deliverOptions) error {
	in := &input{ctx: ctx, stdin: o.deps.io.In, dir: o.deps.dir}
	delivery := runtime.Delivery{Session: o.ID, Trigger: o.Trigger, Key: o.Key}
	var err error
	if o.Message != "" {
		if delivery.Text, delivery.HasText, err = in.message([]string{o.Message}); err != nil {
			return err
		}
	}
	if delivery.Variables, err = in.seeds(o.Variables, o.Vars); err != nil {
		return err
	}
	if o.SessionPath != "" {
		if delivery.Session, err = sessionFrom(o.SessionPath, delivery.Variables); err != nil {
			return err
		}
	}
	if o.Due {
		return deliverDue(ctx, o, delivery)
	}
	s, err := o.session(ctx, delivery.Session)
	if err != nil {
		return o.refusal(err)
	}
	if done, err := o.retold(ctx, s.machine, s.store, delivery.Session); done {
		return err
	}
	if state, err := s.store.Load(ctx, delivery.Session); err != nil {
		return o.refusal(err)
	} else if delivery.Key == "" && !state.TurnOpen && state.Status != session.StatusAwaitingInput { // before a model is looked for
		return o.refusal(runtime.NotParkedError{ID: delivery.Session, Wanted: "input", Status: string(state.Status)})
	}
	return o.arrive(ctx, s.ws, s.machine, s.store, func(ctx context.Context, api runtime.API) (*runtime.Outcome, error) {
		return api.Deliver(ctx, delivery)
	})
}

// sessionFrom finds a session's id in the variables of a delivery.
func sessionFrom(path string, seeds []runtime.Seed) (string, error) {
	found, _ := spec.LookupDotted(seedValues(seeds), path)
	var id string
	switch v := found.(type) {
	case string:
		id = v
	case json.Number:
		id = v.String()
	default:
		return "", &failure{code: "no-session", message: fmt.Sprintf("--session-path %s finds no session id in the variables", path), hint: "name the session instead, or give the variable"}
	}
	if _, err := parseID(id); err != nil {
		return "", &failure{code: "no-session", message: fmt.Sprintf("--session-path %s: %s", path, err), err: err}
	}
	return id, nil
}

// delivered is what became of one session of `deliver --due`.
type delivered struct {
	SessionID string            `json:"sessionId"`
	Outcome   *runtime.Outcome  `json:"outcome,omitempty"`
	Skipped   string            `json:"skipped,omitempty"` // why it was left as it was
	Error     *render.ErrorBody `json:"error,omitempty"`
}

// deliverDue delivers to every session whose time has come. Each is checked
// again under its lock; one that another process took meanwhile is skipped.
func deliverDue(ctx context.Context, o *deliverOptions, delivery runtime.Delivery) error {
	ws, err := o.open()
	if err != nil {
		return err
	}
	store, err := openStore(ws)
	if err != nil {
		return err
	}
	entries, err := store.List(ctx)
	if err != nil {
		return err
	}
	n, err := o.narrate(nil)
	if err != nil {
		return err
	}
	defer n.close()
	now := o.deps.now()
	delivery.DueAt = &now
	docs := []delivered{}
	worst := ExitOK
	for _, e := range entries {
		if ctx.Err() != nil {
			break
		}
		if e.Err != nil || !due(e.Control, now) {
			continue
		}
		doc := o.deliverOne(ctx, ws, store, n, e.Control, delivery)
		if !o.JSON {
			fmt.Fprintln(o.deps.io.Out, doc.line())
			o.deps.io.Flush()
		}
		docs = append(docs, doc)
		worst = max(worst, doc.code(o.ExitStatus))
	}
	if o.JSON {
		err = render.JSON(o.deps.io.Out, struct {
			Version    int         `json:"version"`
			Deliveries []delivered `json:"deliveries"`
		}{render.Version, docs})
	}
	if closeErr := n.close(); err == nil {
		err = closeErr
	}
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err == nil && worst != ExitOK {
		err = statusError{worst}
	}
	return err
}

// due reports whether a session waits for a time that has come.
func due(c *session.Control, now time.Time) bool {
	return c.Park != nil && c.Park.Channel == session.Input && c.Park.ResumeAt != nil && !c.Park.ResumeAt.After(now)
}

// deliverOne delivers to one session. Its events go out only where they were
// asked for (--events, -v): a line each is the narration here.
func (o *deliverOptions) deliverOne(ctx context.Context, ws *Workspace, store session.Store, n *narrator, c *session.Control, delivery runtime.Delivery) delivered {
	doc := delivered{SessionID: c.Session}
	delivery.Session = c.Session
	m, err := loadMachine(ws, c.Workflow)
	var api runtime.API
	if err == nil {
		api, err = openRuntime(ws, m, wiring{store: store, sink: n.event, options: o.arrivalOptions})
	}
	if err == nil {
		began := time.Now()
		bounded, cancel := o.bound(ctx)
		doc.Outcome, err = api.Deliver(bounded, delivery)
		cancel()
		err = o.unfinished(store, c.Session, began, err)
	}
	var notParked runtime.NotParkedError
	var busy session.BusyError
	var refusal *runtime.Error
	switch {
	case err == nil:
	case errors.As(err, &busy), errors.As(err, &notParked), errors.As(err, &refusal) && refusal.ErrCode == "not-due":
		doc.Skipped = oneLine(err.Error())
	default:
		body := reportOf(ctx, err).Error
		doc.Error = &body
	}
	return doc
}

// line is one session's line.
func (x delivered) line() string {
	text := "no outcome"
	switch {
	case x.Error != nil:
		text = "error: " + x.Error.Message
	case x.Skipped != "":
		text = "skipped: " + x.Skipped
	case x.Outcome != nil:
		text = x.Outcome.Kind
		switch {
		case x.Outcome.Kind == runtime.KindParked:
			text = "awaiting " + x.Outcome.ParkedChannel
		case x.Outcome.Kind == runtime.KindFailed:
			text = fmt.Sprintf("failed %s: %s", x.Outcome.Exit.Code, x.Outcome.Exit.Reason)
		case x.Outcome.Kind == runtime.KindRejected:
			text = "rejected: " + x.Outcome.Rejected
		}
	}
	return render.OneLine(x.SessionID) + "  " + render.OneLine(text)
}

func (x delivered) code(exitStatus bool) ExitCode {
	switch {
	case x.Outcome != nil:
		return outcomeCode(x.Outcome, exitStatus)
	case x.Error != nil:
		return ExitFailure
	}
	return ExitOK
}
