package casetest

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/archmax-ai/archmax/internal/model"
	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/spec"
)

// writer puts a tale into a case, its cassette and its fixtures.
type writer struct {
	*tale
	draft   *Draft
	secrets []string
}

func (w *writer) write() error {
	dir := testsDir(w.draft.Workflow)
	add := func(name string, content []byte) {
		w.draft.Files = append(w.draft.Files, DraftFile{path.Join(dir, name), content})
	}
	cassette, err := w.cassette()
	if err != nil {
		return err
	}
	root := &yaml.Node{Kind: yaml.MappingNode}
	w.head(root)
	var fixtures []DraftFile
	if attached := w.attached(w.arrivals[0]); len(attached) > 0 {
		files := &yaml.Node{Kind: yaml.MappingNode}
		for _, v := range attached {
			p, _ := session.Decode(v.Value).(string)
			content, err := fs.ReadFile(w.files, p)
			if err != nil {
				return fmt.Errorf("the file %s of session %s cannot be read: %s", p, w.o.Session, cause(err))
			}
			name := path.Join("fixtures", w.draft.ID, path.Base(p))
			fixtures = append(fixtures, DraftFile{name, content})
			put(files, v.Name, w.text(name))
		}
		put(root, "files", files)
	}
	if mocks := w.mocks(); len(mocks.Content) > 0 {
		put(root, "mocks", mocks)
	}
	steps := &yaml.Node{Kind: yaml.SequenceNode}
	for i := range w.arrivals {
		w.steps(steps, i)
	}
	put(root, "steps", steps)
	doc, err := encode(root)
	if err != nil {
		return err
	}
	add(w.draft.ID+".test.yaml", doc)
	add(w.draft.ID+".cassette.yaml", cassette)
	for _, f := range fixtures {
		add(f.Path, f.Content)
	}
	return nil
}

// head is what a case says before its steps.
func (w *writer) head(root *yaml.Node) {
	first := w.arrivals[0]
	last := w.arrivals[len(w.arrivals)-1]
	title, _ := session.Decode(last.after.variables["title"].Value).(string)
	if title == "" {
		title = first.text
	}
	if title = line(title, maxTitle); title == "" {
		title = line("Session "+w.o.Session, maxTitle)
	}
	put(root, "title", w.text(title))
	put(root, "description", w.text(line("Written from session "+w.o.Session+" by archmax test --from.", maxDescription)))
	if first.trigger != spec.Manual {
		trigger := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
		put(trigger, "id", w.text(first.trigger))
		put(root, "trigger", trigger)
	}
	put(root, "clock", w.text(w.began.TS.UTC().Format(time.RFC3339)))
	if seeds := w.seeds(); len(seeds) > 0 {
		put(root, "variables", w.variables(seeds))
	}
}

// line is a text on one line of at most limit characters.
func line(s string, limit int) string {
	s = collapse(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s))
	if r := []rune(s); len(r) > limit {
		s = strings.TrimSpace(string(r[:limit-1])) + "…"
	}
	return s
}

func (w *writer) variables(set []session.NewVariable) *yaml.Node {
	m := &yaml.Node{Kind: yaml.MappingNode}
	for _, v := range set {
		put(m, v.Name, w.value(v.Value, false))
	}
	return m
}

// steps adds an arrival as an action, with what must come of it.
func (w *writer) steps(list *yaml.Node, i int) {
	a := w.arrivals[i]
	step := func(key string, value *yaml.Node) { list.Content = append(list.Content, single(key, value)) }
	flow := func(pairs ...any) *yaml.Node {
		m := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
		for n := 0; n < len(pairs); n += 2 {
			if text, ok := pairs[n+1].(string); ok {
				put(m, pairs[n].(string), w.text(text))
			} else {
				put(m, pairs[n].(string), plain(fmt.Sprint(pairs[n+1])))
			}
		}
		return m
	}
	switch a.kind {
	case session.ArriveDecide:
		m := &yaml.Node{Kind: yaml.MappingNode}
		put(m, "to", w.text(a.to))
		if a.comment != "" {
			put(m, "comment", w.text(a.comment))
		}
		step("decide", m)
	case session.ArriveDeliver:
		m := &yaml.Node{Kind: yaml.MappingNode}
		put(m, "trigger", w.text(a.trigger))
		if len(a.brought) > 0 {
			put(m, "variables", w.variables(a.brought))
		}
		if a.text != "" {
			put(m, "message", w.text(a.text))
		}
		step("deliver", m)
	default:
		step("send", w.text(a.text))
	}
	if i == 0 || a.kind == session.ArriveDeliver {
		step("triggerArrival", w.text(a.trigger))
	}
	for _, s := range w.moved(i) {
		if s.Kind == session.StepAgent && s.count == 1 {
			step("reachedState", w.text(s.To))
		} else {
			step("trail", flow("to", s.To, "kind", string(s.Kind), "count", s.count))
		}
	}
	if !slices.ContainsFunc(a.after.trail, moves) {
		step("noTraversal", plain("true"))
	}
	switch a.after.status {
	case session.StatusAwaitingDecision, session.StatusAwaitingInput:
		step("parked", flow("channel", string(a.after.channel), "state", a.after.position))
	case session.StatusFailed:
		step("raised", w.text(literal(a.raised.Code)))
	case session.StatusRejected:
		step("rejected", plain("true"))
	default:
		step("succeeded", plain("true"))
	}
	if i == len(w.arrivals)-1 {
		w.facts(step, a.after.variables)
	}
}

// pathStep is a state that an arrival came to, and how often the session had by
// then.
type pathStep struct {
	session.Step
	count int
}

// moved is the path of an arrival, each state and way there once.
func (w *writer) moved(i int) []pathStep {
	from := 0
	if i > 0 {
		from = len(w.arrivals[i-1].after.trail)
	}
	trail := w.arrivals[i].after.trail
	var out []pathStep
	for _, s := range trail[from:] {
		same := func(o session.Step) bool { return o.To == s.To && o.Kind == s.Kind }
		if !moves(s) || slices.ContainsFunc(out, func(p pathStep) bool { return same(p.Step) }) {
			continue
		}
		n := 0
		for _, o := range trail {
			if same(o) {
				n++
			}
		}
		out = append(out, pathStep{s, n})
	}
	return out
}

// facts asserts the variables that the workflow set itself: those that are not
// locked, and those that the agent locked.
func (w *writer) facts(step func(string, *yaml.Node), all map[string]session.Variable) {
	host := map[string]bool{"trigger": true}
	for _, a := range w.arrivals {
		for _, v := range a.brought {
			host[v.Name] = host[v.Name] || v.Locked
		}
	}
	for _, locked := range []bool{false, true} {
		expect := &yaml.Node{Kind: yaml.MappingNode}
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if v := all[name]; v.Locked == locked && !host[name] {
				put(expect, name, w.value(v.Value, true))
			}
		}
		if len(expect.Content) > 0 {
			m := &yaml.Node{Kind: yaml.MappingNode}
			put(m, "expect", expect)
			put(m, "locked", plain(fmt.Sprint(locked)))
			step("variables", m)
		}
	}
}

// mocks answers the host tools as they answered the session: calls with the same
// arguments in turn, those with the most arguments first, since fewer would
// match them too.
func (w *writer) mocks() *yaml.Node {
	type group struct {
		tool    string
		args    map[string]any
		raw     []byte
		answers []toolAnswer
	}
	var groups []*group
	for _, a := range w.arrivals {
		for _, t := range a.tools {
			args, _ := session.Decode(t.args).(map[string]any)
			at := slices.IndexFunc(groups, func(g *group) bool { return g.tool == t.tool && reflect.DeepEqual(g.args, args) })
			if at < 0 {
				at = len(groups)
				groups = append(groups, &group{tool: t.tool, args: args, raw: t.args})
			}
			groups[at].answers = append(groups[at].answers, t)
		}
	}
	slices.SortStableFunc(groups, func(a, b *group) int { return len(b.args) - len(a.args) })
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, g := range groups {
		mock := func(key string, value *yaml.Node) {
			m := &yaml.Node{Kind: yaml.MappingNode}
			put(m, "tool", w.text(g.tool))
			if len(g.args) > 0 {
				put(m, "whenInput", w.value(g.raw, true))
			}
			put(m, key, value)
			list.Content = append(list.Content, m)
		}
		results := &yaml.Node{Kind: yaml.SequenceNode}
		failed := ""
		for _, a := range g.answers {
			if a.failed {
				failed = a.text
			} else {
				results.Content = append(results.Content, w.text(a.text))
			}
		}
		if len(results.Content) > 0 {
			mock("results", results)
		}
		if failed != "" {
			mock("error", w.text(failed))
		}
	}
	return list
}

// cassette writes the model's answers.
func (w *writer) cassette() ([]byte, error) {
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, a := range w.arrivals {
		for _, m := range a.answers {
			list.Content = append(list.Content, w.call(m))
			if m.Error == "" && m.Text+m.summary == "" && len(m.Calls) == 0 {
				// The model is asked twice before silence counts as an answer.
				list.Content = append(list.Content, w.call(answer{ModelSettled: &session.ModelSettled{Role: m.Role, State: m.State}}))
			}
		}
	}
	text, err := encode(tape(list))
	if err != nil {
		return nil, err
	}
	if _, problems := model.LoadCassette(w.draft.ID+".cassette.yaml", text); problems.HasErrors() {
		return nil, fmt.Errorf("the answers of session %s make no cassette: %s", w.o.Session, problems.Err())
	}
	return text, nil
}

func tape(calls *yaml.Node) *yaml.Node {
	root := &yaml.Node{Kind: yaml.MappingNode}
	put(root, "version", plain("1"))
	put(root, "calls", calls)
	return root
}

func (w *writer) call(a answer) *yaml.Node {
	m := &yaml.Node{Kind: yaml.MappingNode}
	field := func(key, value string) {
		if value != "" {
			put(m, key, w.text(value))
		}
	}
	if a.Role != string(model.RoleAgent) {
		field("role", a.Role)
	}
	field("state", a.State)
	if a.Error != "" { // an answer followed it, so here it is retried
		fault := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
		put(fault, "message", w.text(line(a.Error, 400)))
		put(m, "error", fault)
		return m
	}
	field("model", a.Model)
	field("reasoning", a.Reasoning)
	if text := a.Text + a.summary; text != "" || len(a.Calls) == 0 {
		put(m, "text", w.text(text))
	}
	if len(a.Calls) > 0 {
		put(m, "tool_calls", w.toolCalls(a.Calls))
	}
	if a.CutShort {
		field("finish", "length")
	}
	if u := a.Usage; u != nil {
		usage := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
		number := func(key string, n int64) { put(usage, key, plain(fmt.Sprint(n))) }
		number("input", u.Input)
		number("output", u.Output)
		if u.CacheRead > 0 {
			number("cache_read", u.CacheRead)
		}
		if u.CacheWrite > 0 {
			number("cache_write", u.CacheWrite)
		}
		put(m, "usage", usage)
	}
	return m
}

func (w *writer) toolCalls(calls []session.NewCall) *yaml.Node {
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, c := range calls {
		m := &yaml.Node{Kind: yaml.MappingNode}
		put(m, "name", w.text(c.Name))
		if c.Args != "" {
			put(m, "args", w.args(c.Args))
		}
		list.Content = append(list.Content, m)
	}
	return list
}

// args are the arguments of a call: a mapping where that reads back as what the
// model sent, else the text it sent.
func (w *writer) args(raw string) *yaml.Node {
	sent := []byte(w.clean(raw))
	if _, object := session.Decode(sent).(map[string]any); !object || !json.Valid(sent) {
		return quote(string(sent))
	}
	node := w.value(sent, false)
	call := &yaml.Node{Kind: yaml.MappingNode}
	put(call, "name", plain("x"))
	put(call, "args", node)
	tried, err := encode(tape(listOf(single("tool_calls", listOf(call)))))
	if err == nil {
		c, problems := model.LoadCassette("", tried)
		if !problems.HasErrors() && reflect.DeepEqual(session.Decode([]byte(c.Calls[0].ToolCalls[0].Args)), session.Decode(sent)) {
			return node
		}
	}
	return quote(string(sent))
}

func (w *writer) clean(s string) string {
	for _, secret := range w.secrets {
		if secret != "" {
			s = strings.ReplaceAll(s, secret, "[redacted]")
		}
	}
	return s
}
