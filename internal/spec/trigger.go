package spec

import (
	"slices"
	"strings"

	"github.com/archmax-ai/archmax/internal/diag"
)

var triggerKeys = []string{"session", "message", "connection", "description", "requires", "returns"}

// reservedReturns are the variables a signature may not return: the runtime or
// the answer owns them.
var reservedReturns = []string{"trigger", "title", "note"}

func (l *loader) triggers(n *Node, state, field string) (list []*Trigger) {
	m, ok := l.Open(n, field)
	if !ok {
		return nil
	}
	for _, p := range n.Pairs {
		at := m.At(p.Key)
		if strings.TrimSpace(p.Key) == "" || strings.ContainsAny(p.Key, " \t\r\n") {
			l.shapef(diag.BadValue, p.Range, at, "", "`%s` is no trigger id: it must be one word", brief(p.Key))
		}
		t := &Trigger{ID: p.Key, State: state, Range: p.Range}
		if p.Value.Kind != NullNode {
			l.trigger(t, p.Value, at)
		}
		list = append(list, t)
	}
	return list
}

func (l *loader) trigger(t *Trigger, n *Node, field string) {
	m, ok := l.Open(n, field)
	if !ok {
		return
	}
	for _, p := range n.Pairs {
		switch {
		case slices.Contains(triggerKeys, p.Key):
		case p.Key == "entry" || p.Key == "name":
			l.Errorf(diag.TriggerKey, p.Range, m.At(p.Key), "remove it: the trigger enters the state it is declared on, under its own id",
				"a trigger's declaration has no `%s`", p.Key)
		default:
			hint := "known keys: " + strings.Join(triggerKeys, ", ")
			if near := diag.Nearest(p.Key, triggerKeys); near != "" {
				hint = "did you mean `" + near + "`? " + hint
			}
			l.Warnf(diag.UnknownTriggerKey, p.Range, m.At(p.Key), hint, "the key `%s` of trigger `%s` means nothing here; it is kept", brief(p.Key), brief(t.ID))
			if v, ok := l.Any(p.Value, m.At(p.Key)); ok {
				if t.Extra == nil {
					t.Extra = map[string]any{}
				}
				t.Extra[p.Key] = v
			}
		}
	}
	t.Session = l.dottedPath(m, "session")
	if msg := m.Get("message"); msg != nil && msg.Kind == BoolNode && msg.Text == "false" {
		t.NoMessage = true
	} else if msg != nil && msg.Kind == BoolNode {
		l.shapef(diag.WrongType, msg.Range, m.At("message"), "leave it out when arrivals carry their words",
			"`message` must be a dotted path or false, not `%s`", msg.Text)
	} else {
		t.Message = l.dottedPath(m, "message")
	}
	t.Connection, _ = m.Text("connection")
	t.Description, _ = m.String("description")
	t.Requires = l.signature(m, "requires")
	t.Returns = l.signature(m, "returns")
}

func (l *loader) dottedPath(m Map, key string) string {
	s, ok := m.Text(key)
	if ok && !ValidDottedPath(s) {
		l.Errorf(diag.DottedPathCode, m.Get(key).Range, m.At(key), "names and indexes with single dots between them, as in `triggers.-1.conversationId`",
			"`%s` is no dotted path", brief(s))
	}
	return s
}
