package spec

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/archmax-ai/archmax/internal/diag"
)

const maxIterations = "max_iterations"

// builtinHooks are the kinds a hook may have without an extension.
var builtinHooks = []string{"script", "rubric"}

func (l *loader) extensions(n *Node) (kinds []string) {
	m, ok := l.Mapping(n, "extensions", "hooks")
	if !ok {
		return nil
	}
	list(m, "hooks", func(n *Node, field string) (string, bool) {
		kind, ok := l.Text(n, field)
		switch {
		case !ok:
		case slices.Contains(builtinHooks, kind) || kind == maxIterations:
			l.Errorf(diag.HookKind, n.Range, field, "choose another name", "`%s` is no name for a hook kind: it is built in", kind)
		case slices.Contains(kinds, kind):
			l.Errorf(diag.HookKind, n.Range, field, "keep one of the two", "the hook kind `%s` is listed twice", brief(kind))
		default:
			kinds = append(kinds, kind)
		}
		return kind, ok
	})
	return kinds
}

// hooks reads one hook or a list of them; phase is before or after.
func (l *loader) hooks(m Map, phase string) (hooks []*Hook) {
	n := m.Get(phase)
	if n == nil {
		return nil
	}
	if n.Kind != SequenceNode {
		if h, ok := l.hook(n, m.At(phase), phase); ok {
			hooks = append(hooks, h)
		}
		return hooks
	}
	for i, item := range n.Items {
		if h, ok := l.hook(item, m.At(phase+"."+strconv.Itoa(i)), phase); ok {
			hooks = append(hooks, h)
		}
	}
	return hooks
}

func (l *loader) hook(n *Node, field, phase string) (*Hook, bool) {
	m, ok := l.Open(n, field)
	if !ok {
		return nil, false
	}
	h := &Hook{Range: n.Range}
	known := append(slices.Clone(builtinHooks), l.m.HookKinds...)
	var kinds []Pair
	for _, p := range n.Pairs {
		if p.Key != maxIterations {
			kinds = append(kinds, p)
		}
	}
	if len(kinds) == 0 {
		l.Errorf(diag.HookKind, n.Range, field, "kinds: "+strings.Join(known, ", "), "a hook needs a kind: a script, a rubric or one of `extensions.hooks`")
		return nil, false
	}
	for _, p := range kinds[1:] {
		l.Errorf(diag.HookKind, p.Range, m.At(p.Key), "write two hooks, as a list", "a hook has one kind, and this one has `%s` and `%s`", brief(kinds[0].Key), brief(p.Key))
	}
	switch kind := kinds[0]; {
	case kind.Key == "script":
		if p, ok := m.Text("script"); ok && l.scriptPath(p, kind.Value.Range, m.At("script"), "hooks") {
			h.Script = p
		}
	case kind.Key == "rubric":
		h.Rubric = l.rubric(kind.Value, m.At("rubric"), phase)
	case slices.Contains(known, kind.Key):
		h.Kind = kind.Key
		h.Value, _ = l.Any(kind.Value, m.At(kind.Key))
	default:
		hint := "kinds: " + strings.Join(known, ", ") + "; a custom kind is declared in `extensions.hooks`"
		if near := diag.Nearest(kind.Key, append(known, maxIterations)); near != "" {
			hint = "did you mean `" + near + "`? " + hint
		}
		l.Errorf(diag.HookKind, kind.Range, m.At(kind.Key), hint, "unknown hook kind `%s`", brief(kind.Key))
	}
	h.MaxIterations, _ = m.Int(maxIterations, 0)
	h.HasMaxIterations = m.Has(maxIterations)
	if h.HasMaxIterations && m.Has("rubric") {
		l.Errorf(diag.HookIterations, m.KeyRange(maxIterations), m.At(maxIterations), "move it into the rubric", "`max_iterations` cannot stand beside `rubric`")
	} else if h.HasMaxIterations && phase == "before" {
		l.beforeIterations(m)
	}
	return h, true
}

func (l *loader) beforeIterations(m Map) {
	l.Errorf(diag.HookIterations, m.KeyRange(maxIterations), m.At(maxIterations), "remove it, or move the hook to `after`",
		"a `before` hook has no `max_iterations`: it cannot ask for another try")
}

func (l *loader) rubric(n *Node, field, phase string) *Rubric {
	r := &Rubric{}
	m, ok := l.Mapping(n, field, "instructions", maxIterations, "model", "metadata")
	if !ok {
		return r
	}
	m.Require("instructions", n.Range, "say what the grader holds the work against")
	r.Instructions, _ = m.Text("instructions")
	r.Model, _ = m.Text("model")
	r.MaxIterations, _ = m.Int(maxIterations, 0)
	if m.Has(maxIterations) && phase == "before" {
		l.beforeIterations(m)
	}
	l.metadata(m)
	return r
}

// scriptPath checks that an authored path stays inside dir.
func (l *loader) scriptPath(p string, at diag.Range, field, dir string) bool {
	if strings.ContainsAny(p, "\\\x00") || path.IsAbs(p) || !strings.HasPrefix(path.Clean(p), dir+"/") {
		l.Errorf(diag.ScriptPath, at, field, "write the path from the workflow's directory, as in `"+dir+"/check.js`",
			"`%s` is not inside the workflow's `%s/`", brief(p), dir)
		return false
	}
	return true
}
