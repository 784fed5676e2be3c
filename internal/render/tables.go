package render

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/session"
)

// mintedID is how wide the id of a session is that nobody named (session.Mint):
// longer ones are cut so that the other columns stay.
const mintedID = 28

// SessionsTable prints the listing: id, workflow, title, status, state, age
// (since the last update), due. now is the clock of age and due.
func SessionsTable(w io.Writer, st Style, list Sessions, now time.Time) error {
	p := &page{style: st}
	t := &table{columns: []column{
		{name: "id", min: mintedID},
		{name: "workflow", min: 5, leave: 4},
		{name: "title", min: 5, leave: 1},
		{name: "status", leave: 6},
		{name: "state", min: 5, leave: 5},
		{name: "age", leave: 2},
		{name: "due", leave: 3},
	}}
	for _, s := range list.Sessions {
		if s.Error != "" {
			t.note(OneLine(s.Name()), st.paint(red, "damaged: ")+OneLine(s.Error))
			continue
		}
		t.row(OneLine(s.SessionID), OneLine(s.Workflow), OneLine(s.Title), string(s.Status), OneLine(s.State),
			ago(now.Sub(s.updated)), due(s, now))
	}
	if len(t.rows) == 0 {
		p.line(0, "no sessions")
		return p.to(w)
	}
	t.print(p, statusInk)
	return p.to(w)
}

// statusInk colours the status column.
func statusInk(column, cell string) accent {
	if column != "status" {
		return noInk
	}
	switch session.Status(cell) {
	case session.StatusCompleted:
		return green
	case session.StatusFailed, session.StatusRejected, session.StatusInterrupted:
		return red
	case session.StatusAwaitingDecision, session.StatusAwaitingInput:
		return yellow
	}
	return noInk
}

// ago is a span in its largest unit: 45s, 12m, 3h, 2d.
func ago(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/(24*time.Hour))
}

// due is in how long a park's time comes: "2h", "now" once it has.
func due(s Summary, now time.Time) string {
	switch {
	case s.resumeAt.IsZero():
		return ""
	case s.Due(now):
		return "now"
	}
	return ago(s.resumeAt.Sub(now))
}

// OneSession prints a session in full: what it is, its record and the commands
// that resume it, variables with locks, trail, files, usage. s is of
// SummarizeState.
func OneSession(w io.Writer, st Style, s Summary, opts VerdictOptions) error {
	p := &page{style: st}
	p.line(0, st.paint(bold, OneLine(s.Name())))
	p.field("workflow", OneLine(s.Workflow))
	p.field("title", OneLine(s.Title))
	p.field("status", st.paint(statusInk("status", string(s.Status)), string(s.Status)))
	p.field("state", OneLine(s.State))
	p.field("parent", OneLine(s.ParentSessionID))
	if s.Exit != nil && !s.Exit.Success {
		p.field("failed", OneLine(s.Exit.Code)+because(s.Exit.Reason))
	}
	p.field("rejected", OneLine(s.Rejected))
	p.field("error", OneLine(s.Error))
	p.field("created", s.CreatedAt)
	p.field("updated", s.UpdatedAt)
	if s.Turns != nil {
		p.field("turns", fmt.Sprint(*s.Turns))
	}
	p.field("spec", OneLine(s.SpecHash))
	if s.Pending != nil {
		p.blank()
		p.park(s.SessionID, s.ParkedChannel, s.Pending, opts)
	}
	if s.Status == session.StatusInterrupted || s.Exit != nil && slices.Contains(resumable, s.Exit.Code) {
		p.resume(s.SessionID, opts)
	}
	if vars, ok := s.Variables.(map[string]session.Variable); ok && len(vars) > 0 {
		p.heading("variables")
		for _, name := range slices.Sorted(maps.Keys(vars)) {
			lock := ""
			if vars[name].Locked {
				lock = st.paint(dim, "  (locked)")
			}
			p.wrap(1, OneLine(name)+" = "+value(vars[name].Value)+lock)
		}
	}
	if s.Trail != nil && len(*s.Trail) > 0 {
		p.heading("trail")
		p.trail(*s.Trail)
	}
	if s.Files != nil && len(*s.Files) > 0 {
		p.heading("files")
		for _, f := range *s.Files {
			p.wrap(1, OneLine(f.Path)+st.paint(dim, "  "+Size(f.Size)))
		}
	}
	if s.Usage != nil {
		if usage := UsageLine(*s.Usage); usage != "" {
			p.blank()
			p.line(0, st.paint(dim, usage))
		}
	}
	return p.to(w)
}

// trail adds the steps, one a line.
func (p *page) trail(steps []runtime.TrailStep) {
	for _, step := range steps {
		line := p.style.paint(dim, step.TS) + " " + p.style.mark(markGo) + " " + p.style.paint(bold, OneLine(step.To)) + " (" + OneLine(string(step.Kind)) + ")"
		if step.Workflow != "" {
			line += " " + OneLine(step.Workflow)
		}
		if step.Status != "" {
			line += " " + OneLine(step.Status)
		}
		p.wrap(1, line+because(step.Reason))
	}
}

// Size is a number of bytes for a person: 812 B, 1.2 kB, 3.4 MB.
func Size(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	value, unit := float64(n)/1000, "kB"
	for _, next := range []string{"MB", "GB", "TB"} {
		if value < 999.95 {
			break
		}
		value, unit = value/1000, next
	}
	return fmt.Sprintf("%.1f %s", value, unit)
}

// UsageText prints a usage table.
func UsageText(w io.Writer, st Style, u UsageTable) error {
	p := &page{style: st}
	t := &table{columns: []column{
		{name: u.By, min: 8},
		{name: "sessions", leave: 4, right: true},
		{name: "calls", leave: 3, right: true},
		{name: "in", leave: 6, right: true},
		{name: "out", leave: 5, right: true},
		{name: "cache r", leave: 2, right: true},
		{name: "cache w", leave: 1, right: true},
		{name: "cost", leave: 7, right: true},
	}}
	if u.Total.UnknownCalls > 0 {
		t.columns = append(t.columns, column{}) // never left out: without it the sums look whole
	}
	add := func(key string, r UsageTotal) {
		cost := ""
		if r.CostUSD != nil {
			cost = Dollars(*r.CostUSD)
		}
		cells := []string{
			key, Count(int64(r.Sessions)), Count(r.ModelCalls), known(r.InputTokens), known(r.OutputTokens),
			known(r.CacheReadTokens), known(r.CacheCreationTokens), cost,
		}
		if u.Total.UnknownCalls > 0 {
			cells = append(cells, unknown(r.UnknownCalls))
		}
		t.row(cells...)
	}
	for _, r := range u.Rows {
		key := OneLine(r.Key)
		if key == "" {
			key = "(unknown)"
		}
		add(key, r.UsageTotal)
	}
	add("total", u.Total)
	t.print(p, func(string, string) accent { return noInk })
	return p.to(w)
}

// unknown says how many calls the numbers before it leave out.
func unknown(calls int64) string {
	if calls == 0 {
		return ""
	}
	return "· " + unknownCalls(calls)
}

func known(n *int64) string {
	if n == nil {
		return ""
	}
	return Count(*n)
}

// WorkflowsTable prints the workflows, each with its triggers below it.
func WorkflowsTable(w io.Writer, st Style, list Workflows) error {
	p := &page{style: st}
	if len(list.Workflows) == 0 {
		p.line(0, "no workflows; `archmax init` makes one")
	}
	for _, wf := range list.Workflows {
		line := st.paint(bold, OneLine(wf.Workflow))
		if wf.Title != "" {
			line += "  " + OneLine(wf.Title)
		}
		if wf.Disabled {
			line += st.paint(yellow, "  (disabled)")
		}
		p.wrap(0, line)
		if wf.Error != "" {
			p.wrap(1, st.mark(markError)+" "+OneLine(wf.Error))
		}
		for _, t := range wf.Triggers {
			line := OneLine(t.ID) + "(" + names(t.Requires) + ")"
			if len(t.Returns) > 0 {
				line += " " + st.mark(markGo) + " " + names(t.Returns)
			}
			p.wrap(1, line)
		}
	}
	return p.to(w)
}

// OneWorkflowText prints one workflow: its triggers with their signatures, its
// states with their edges.
func OneWorkflowText(w io.Writer, st Style, wf WorkflowInfo) error {
	p := &page{style: st}
	p.wrap(0, strings.TrimRight(st.paint(bold, OneLine(wf.Workflow))+"  "+OneLine(wf.Title), " "))
	p.field("file", OneLine(wf.File))
	p.field("spec", OneLine(wf.SpecHash))
	if wf.Disabled {
		p.field("disabled", "yes")
	}
	p.field("error", OneLine(wf.Error))
	if len(wf.Triggers) > 0 {
		p.heading("triggers")
	}
	for _, t := range wf.Triggers {
		p.wrap(1, st.paint(bold, OneLine(t.ID))+" enters "+OneLine(t.State)+because(t.Description))
		for _, e := range t.Requires {
			p.wrap(2, "requires "+e.String()+because(e.Description))
		}
		for _, e := range t.Returns {
			p.wrap(2, "returns "+e.String()+because(e.Description))
		}
	}
	if len(wf.States) > 0 {
		p.heading("states")
	}
	for _, s := range wf.States {
		line := st.mark(markState) + " " + st.paint(bold, OneLine(s.State)) + st.paint(dim, " ("+string(s.Kind)+")")
		p.wrap(1, line+because(s.Title))
		for _, e := range s.Transitions {
			edge := st.mark(markGo) + " " + OneLine(e.To)
			if e.Type != "" && e.Type != "none" {
				edge += " (" + string(e.Type) + ")"
			}
			p.wrap(2, edge+because(e.Description))
		}
	}
	return p.to(w)
}
