package casetest

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/archmax-ai/archmax/internal/governance"
	"github.com/archmax-ai/archmax/internal/model"
	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/spec"
	"github.com/archmax-ai/archmax/internal/workspace"
)

// tale is a session as a case can tell it: what reached it, and what came of
// each arrival.
type tale struct {
	o        DraftOptions
	began    session.Record
	files    session.Files
	tools    *governance.ToolSet // host tools by the names that the machine grants
	arrivals []*arrived
}

// arrived is one arrival, with the resumes that continued it.
type arrived struct {
	kind        session.Arrival
	trigger     string
	text        string
	to, comment string                // decide
	brought     []session.NewVariable // by the host
	answers     []answer
	tools       []toolAnswer
	raised      *session.Raised
	faults      map[string]string // role and state -> the failure that no answer followed
	why         string            // why no case can hold it
	after       moment
}

// answer is one model call: an answer, or a fault.
type answer struct {
	*session.ModelSettled
	summary string // of role summary
}

// toolAnswer is what a host tool answered.
type toolAnswer struct {
	tool   string
	args   []byte
	text   string
	failed bool
}

// moment is the session as an arrival left it.
type moment struct {
	status    session.Status
	code      string
	position  string
	channel   session.Channel
	trail     []session.Step
	variables map[string]session.Variable
}

func readTale(ctx context.Context, o DraftOptions) (*tale, error) {
	t := &tale{o: o, tools: grantedTools(o)}
	loaded, err := o.Store.Load(ctx, o.Session)
	switch {
	case err != nil:
		return nil, err
	case loaded.TurnOpen || loaded.Say != "":
		return nil, fmt.Errorf("session %s has a turn at work or broken off; finish it first: `archmax send %s --resume`", o.Session, o.Session)
	}
	if t.files, err = o.Store.Files(ctx, o.Session); err != nil {
		return nil, err
	}
	s := session.NewState()
	var cur *arrived
	for rec, err := range o.Store.Records(ctx, o.Session, 1) {
		if err != nil {
			return nil, err
		}
		if turn, ok := rec.Body.(*session.Turn); ok {
			cur = t.open(cur, turn, s)
		}
		if rec.Seq == 1 {
			t.began = rec
		}
		if _, err := s.Apply(rec); err != nil {
			return nil, err
		}
		if cur != nil {
			t.take(cur, rec.Body, s)
		}
	}
	if cur == nil {
		return nil, fmt.Errorf("session %s has had no turn, so there is nothing to write a case from", o.Session)
	}
	cur.end(s)
	return t, nil
}

// grantedTools are the host tools that a call may mean by a bare name.
func grantedTools(o DraftOptions) *governance.ToolSet {
	var infos []governance.ToolInfo
	for _, t := range o.Runtime.HostTools {
		infos = append(infos, t.ToolInfo)
	}
	grants := slices.Clone(o.Machine.Tools.AllowAlways)
	for _, s := range o.Machine.States {
		grants = append(grants, s.Tools.Allow...)
	}
	for _, e := range grants {
		infos = append(infos, governance.ToolInfo{Name: e.Tool})
	}
	return governance.NewToolSet(infos)
}

// open begins an arrival. One that resumes a broken turn is part of the arrival
// before it: what broke is not the workflow's, and a case has no word for it.
func (t *tale) open(last *arrived, turn *session.Turn, s *session.State) *arrived {
	if turn.Arrival == session.ArriveResume && last != nil {
		if s.SettledCode == "recursion-limit" {
			last.why = "it took more steps than one arrival may, and was resumed"
		}
		return last
	}
	if last != nil {
		last.end(s)
	}
	a := &arrived{kind: turn.Arrival, trigger: turn.Trigger, faults: map[string]string{}}
	t.arrivals = append(t.arrivals, a)
	return a
}

func (a *arrived) end(s *session.State) {
	a.after = moment{
		status: s.Status, code: s.SettledCode, position: s.Position,
		trail: slices.Clone(s.Trail), variables: maps.Clone(s.Variables),
	}
	if s.Park != nil {
		a.after.channel = s.Park.Channel
	}
}

// take adds a record, which s has folded, to the arrival.
func (t *tale) take(a *arrived, body session.Body, s *session.State) {
	switch b := body.(type) {
	case *session.NewMessage:
		if b.Role == "user" {
			a.text = b.Text
		}
	case *session.VariablesSet:
		if b.Host {
			a.brought = append(a.brought, b.Set...)
		}
	case *session.Decided:
		a.to, a.comment = b.To, b.Comment
	case *session.Delivered:
		a.trigger = b.Trigger
	case *session.Raised:
		a.raised = b
	case *session.ModelSettled:
		of := b.Role + " " + b.State
		if b.Error != "" {
			a.faults[of] = b.Error
		} else {
			delete(a.faults, of)
		}
		a.answers = append(a.answers, answer{ModelSettled: b})
	case *session.Compacted:
		if n := len(a.answers); n > 0 && a.answers[n-1].Role == string(model.RoleSummary) {
			a.answers[n-1].summary = b.Summary
		}
	case *session.Result:
		if c := s.Call(b.Call); c != nil && c.Intent != nil && c.Intent.Origin == "" {
			t.toolResult(a, c, b)
		}
	}
}

// toolResult keeps what a host tool answered: no other than a mock can answer
// for it in a case.
func (t *tale) toolResult(a *arrived, c *session.Call, b *session.Result) {
	for _, info := range slices.Concat(governance.Controls(), governance.Builtins()) {
		if info.Name == c.Name {
			return
		}
	}
	if strings.HasPrefix(c.Name, spec.DelegationPrefix) {
		return
	}
	name := c.Name
	if info, ok := t.tools.Resolve(name); ok {
		name = info.Name
	}
	text := b.Text
	if b.Offload > 0 {
		if whole, err := fs.ReadFile(t.files, fmt.Sprintf("large_tool_results/%d.txt", b.Offload)); err == nil {
			text = string(whole)
		}
	}
	failed := b.Status != "ok"
	if failed {
		text = strings.TrimPrefix(text, "Error: ")
	}
	a.tools = append(a.tools, toolAnswer{tool: name, args: session.ArgsOf(c), text: text, failed: failed})
}

// tellable cuts the tale before the first arrival that no case can hold, and
// notes it.
func (t *tale) tellable(d *Draft) error {
	for i, a := range t.arrivals {
		why := t.untellable(i)
		if why == "" {
			continue
		}
		if i == 0 {
			return fmt.Errorf("no case can be written from session %s: %s", t.o.Session, why)
		}
		d.Notes = append(d.Notes, fmt.Sprintf("the case ends before arrival %d of %d (%s): %s", i+1, len(t.arrivals), a.kind, why))
		t.arrivals = t.arrivals[:i]
		return nil
	}
	return nil
}

// untellable says why no case can hold an arrival, "" when one can.
func (t *tale) untellable(i int) string {
	a, first := t.arrivals[i], t.arrivals[0]
	for of, fault := range a.faults {
		_, state, _ := strings.Cut(of, " ")
		return fmt.Sprintf("its model failed in state %q, which fails a case: %s", state, short(collapse(fault)))
	}
	switch {
	case a.why != "":
		return a.why
	case a.after.status == session.StatusFailed && a.raised == nil:
		return fmt.Sprintf("it failed with %q, which is no doing of the workflow's", a.after.code)
	case i == 0:
		return t.badAttachment()
	case len(t.attached(a)) > 0 && !t.again(a):
		return "it brought files, and a case brings them with its first turn"
	case a.kind != session.ArriveTurn:
		return ""
	case a.trigger != first.trigger:
		return fmt.Sprintf("it came under the trigger %q, and every turn of a case runs under one, here %q", a.trigger, first.trigger)
	}
	return t.otherSeeds(i)
}

// otherSeeds says how a later turn differs from the first in its variables,
// which a case seeds alike on every turn.
func (t *tale) otherSeeds(i int) string {
	base := map[string][]byte{}
	for _, v := range t.seeds() {
		base[v.Name] = v.Value
	}
	brought := map[string]bool{}
	for _, v := range t.arrivals[i].brought {
		brought[v.Name] = true
		if was, ok := base[v.Name]; v.Locked && !t.isFile(v) && (!ok || !bytes.Equal(was, v.Value)) {
			return fmt.Sprintf("it brought another %q than the first turn, and a case seeds the same on every turn", v.Name)
		}
	}
	before := t.arrivals[i-1].after.variables
	for name, value := range base {
		if name != "title" && !brought[name] && !bytes.Equal(before[name].Value, value) {
			return fmt.Sprintf("%q had changed since the first turn, and a case seeds it again on every turn", name)
		}
	}
	return ""
}

// seeds are the variables of the first turn, without its files.
func (t *tale) seeds() []session.NewVariable {
	return slices.DeleteFunc(slices.Clone(t.arrivals[0].brought), t.isFile)
}

// attached are the files of an arrival: variables that hold the path of an
// attachment.
func (t *tale) attached(a *arrived) []session.NewVariable {
	return slices.DeleteFunc(slices.Clone(a.brought), func(v session.NewVariable) bool { return !t.isFile(v) })
}

// again reports whether an arrival names no attachment but the first turn's.
func (t *tale) again(a *arrived) bool {
	first := t.attached(t.arrivals[0])
	for _, v := range t.attached(a) {
		if !slices.ContainsFunc(first, func(f session.NewVariable) bool { return f.Name == v.Name && bytes.Equal(f.Value, v.Value) }) {
			return false
		}
	}
	return true
}

func (t *tale) isFile(v session.NewVariable) bool {
	p, ok := session.Decode(v.Value).(string)
	if !ok || path.Dir(p) != workspace.Attachments {
		return false
	}
	info, err := t.files.Stat(p)
	return err == nil && !info.IsDir()
}

// badAttachment refuses a file that would be another case below tests/.
func (t *tale) badAttachment() string {
	for _, v := range t.attached(t.arrivals[0]) {
		p, _ := session.Decode(v.Value).(string)
		if strings.HasSuffix(p, ".test.yaml") || strings.HasSuffix(p, ".test.yml") {
			return fmt.Sprintf("it brought a file %q, which would be taken for a case below tests/", path.Base(p))
		}
	}
	return ""
}
