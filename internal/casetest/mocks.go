package casetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/archmax-ai/archmax/internal/event"
	"github.com/archmax-ai/archmax/internal/governance"
	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/spec"
)

// unmockedError ends a case: a host tool was called that no mock answers, or one
// whose `results` are used up. Whatever was answered then would be made up.
type unmockedError struct{ message string }

func (e *unmockedError) Error() string { return e.message }

// mocks answers the calls of one run of a case. Calls of one message run side by
// side; they are answered in the order of the message, so that `results` go to
// the same calls in every run. A call waits for calls of its own session and
// origin alone: those of a script or a child happen within another call.
type mocks struct {
	list []*Mock
	fail context.CancelCauseFunc // ends the case

	mu      sync.Mutex
	used    []int         // results taken
	asked   []bool        // has answered
	queue   []callKey     // started and not answered yet, in the order of their messages
	changed chan struct{} // closed, and replaced, whenever queue gets shorter
}

type callKey struct {
	session string
	agent   bool // else a script's or a hook's
	id      string
}

func keyOf(session string, origin governance.Origin, id string) callKey {
	return callKey{session, origin == "" || origin == governance.FromAgent, id}
}

func newMocks(list []*Mock, fail context.CancelCauseFunc) *mocks {
	return &mocks{list: list, fail: fail, used: make([]int, len(list)), asked: make([]bool, len(list)), changed: make(chan struct{})}
}

// watch keeps the order of the calls: their events come before any of them runs.
func (m *mocks) watch(e event.Event) {
	switch p := e.Payload.(type) {
	case event.ToolCalled:
		m.mu.Lock()
		m.queue = append(m.queue, keyOf(e.SessionID, governance.Origin(p.Origin), p.CallID))
		m.mu.Unlock()
	case event.ToolResult: // a call that nobody had to answer
		m.done(e.SessionID, p.CallID)
	}
}

func (m *mocks) done(session, id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := slices.IndexFunc(m.queue, func(k callKey) bool { return k.session == session && k.id == id }); i >= 0 {
		m.queue = slices.Delete(m.queue, i, i+1)
		close(m.changed)
		m.changed = make(chan struct{})
	}
}

// turn waits until every call before this one has been answered.
func (m *mocks) turn(ctx context.Context, key callKey) {
	for {
		m.mu.Lock()
		next := slices.IndexFunc(m.queue, func(k callKey) bool { return k.session == key.session && k.agent == key.agent })
		mine, changed := next < 0 || m.queue[next] == key || !slices.Contains(m.queue, key), m.changed
		m.mu.Unlock()
		if mine {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// answer is the runtime.Mock of a case: the first mock that matches answers.
func (m *mocks) answer(ctx context.Context, call runtime.ToolCall) (text string, err error, answered bool) {
	m.turn(ctx, keyOf(call.Session, call.Origin, call.ID))
	defer m.done(call.Session, call.ID)
	m.mu.Lock()
	defer m.mu.Unlock()
	spent := false
	for i, mock := range m.list {
		if !mock.answers(call) {
			continue
		}
		m.asked[i] = true
		switch {
		case mock.IsError:
			return "", errors.New(mock.Error), true
		case mock.Lasting:
			return mock.Results[0], nil, true
		case m.used[i] < len(mock.Results):
			m.used[i]++
			return mock.Results[m.used[i]-1], nil, true
		}
		spent = true
	}
	if spent {
		return "", m.unmocked(call, "and the `results` of its mock are used up", "add a result, or a mock after it"), true
	}
	return "", nil, false
}

// unused words which mocks never answered, "" when all did.
func (m *mocks) unused() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var words []string
	for i, mock := range m.list {
		if !m.asked[i] {
			words = append(words, fmt.Sprintf("%d (%s)", i, short(mock.Tool)))
		}
	}
	switch len(words) {
	case 0:
		return ""
	case 1:
		return "mock " + words[0] + " was not used"
	}
	return fmt.Sprintf("%d mocks were not used: %s", len(words), short(strings.Join(words, ", ")))
}

func (mock *Mock) answers(call runtime.ToolCall) bool {
	return mock.Tool == call.Tool && (mock.WhenInput == nil || mock.WhenInput.Match(call.Args) == nil)
}

// unmocked ends the case because of a call.
func (m *mocks) unmocked(call runtime.ToolCall, why, fix string) error {
	err := &unmockedError{fmt.Sprintf("%s was called in state %q with %s, %s; %s", call.Tool, call.State, show(call.Args), why, fix)}
	m.fail(err)
	return err
}

// hostTools are the tools of the workspace as a case knows them. With real ones
// they are the template's own. Else none runs, and every name that the machine
// grants or the case mocks is a tool, whether or not the workspace could start
// it here: a suite needs no server.
func (m *mocks) hostTools(template []runtime.HostTool, machine *spec.Machine, essential []string, real bool) []runtime.HostTool {
	if real {
		return template
	}
	tools := slices.Clone(template)
	known := map[string]bool{}
	for _, info := range slices.Concat(governance.Controls(), governance.Builtins()) {
		known[info.Name] = true
	}
	for _, t := range tools {
		known[t.Name] = true
	}
	add := func(name string) {
		if known[name] || name == "*" || strings.HasPrefix(name, spec.DelegationPrefix) {
			return
		}
		known[name] = true
		tools = append(tools, runtime.HostTool{
			ToolInfo: governance.ToolInfo{Name: name}, Schema: json.RawMessage(`{"type":"object"}`),
		})
	}
	grants := slices.Clone(machine.Tools.AllowAlways)
	for _, s := range machine.States {
		grants = append(grants, s.Tools.Allow...)
	}
	for _, e := range grants {
		add(e.Tool)
	}
	for _, name := range essential {
		add(name)
	}
	for _, mock := range m.list {
		add(mock.Tool)
	}
	for i := range tools {
		tools[i].Run = func(_ context.Context, call runtime.ToolCall) (string, error) {
			return "", m.unmocked(call, "and no mock answers it", "add one to `mocks`, or run the tool with `tests.hostTools: real` or --real-tools")
		}
	}
	return tools
}

// toolSet is what called names mean, as in a runtime with these host tools.
func toolSet(host []runtime.HostTool) *governance.ToolSet {
	infos := slices.Concat(governance.Controls(), governance.Builtins())
	for _, h := range host {
		infos = append(infos, h.ToolInfo)
	}
	return governance.NewToolSet(infos)
}
