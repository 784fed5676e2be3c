package render

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/session"
)

// UsageBy are the keys that `sessions usage --by` takes.
var UsageBy = []string{"workflow", "model", "state", "day"}

// UsageTable is what sessions cost, grouped (`sessions usage`). Rows are sorted
// by key.
type UsageTable struct {
	Version int        `json:"version"`
	By      string     `json:"by"`
	Rows    []UsageRow `json:"rows"`
	Total   UsageTotal `json:"total"`
}

// UsageRow is one group; Key is the workflow, model, state or UTC day
// (2006-01-02), "" when a call did not say its model.
type UsageRow struct {
	Key string `json:"key"`
	UsageTotal
}

// UsageTotal is a usage and how many sessions it is of.
type UsageTotal struct {
	Sessions int `json:"sessions"`
	runtime.UsageReport
}

// UsageCounter adds up model calls. Every call counts once, in the session
// whose journal holds it: a child's in the child.
type UsageCounter struct {
	by    string
	rows  map[string]*counted
	total counted
}

type counted struct {
	usage    session.Usage
	sessions map[string]bool
}

func (c *counted) add(id string, u session.Usage) {
	if c.sessions == nil {
		c.sessions = map[string]bool{}
	}
	c.sessions[id] = true
	c.usage.Add(u)
}

func (c *counted) report() UsageTotal {
	return UsageTotal{Sessions: len(c.sessions), UsageReport: runtime.ReportUsage(c.usage)}
}

// NewUsageCounter returns a counter by one of UsageBy.
func NewUsageCounter(by string) (*UsageCounter, error) {
	if !slices.Contains(UsageBy, by) {
		return nil, fmt.Errorf("usage is counted by workflow, model, state or day, not by %q", by)
	}
	return &UsageCounter{by: by, rows: map[string]*counted{}}, nil
}

// Add counts the model calls of one session. When its records cannot be read
// to the end, none of them counts.
func (c *UsageCounter) Add(id string, records iter.Seq2[session.Record, error]) error {
	type call struct {
		key   string
		usage session.Usage
	}
	var calls []call
	workflow := ""
	for rec, err := range records {
		if err != nil {
			return err
		}
		switch b := rec.Body.(type) {
		case *session.Created:
			workflow = b.Workflow
		case *session.ModelSettled:
			calls = append(calls, call{c.key(workflow, rec.TS, b), usageOf(b)})
		}
	}
	for _, one := range calls {
		row := c.rows[one.key]
		if row == nil {
			row = &counted{}
			c.rows[one.key] = row
		}
		row.add(id, one.usage)
		c.total.add(id, one.usage)
	}
	return nil
}

func (c *UsageCounter) key(workflow string, at time.Time, b *session.ModelSettled) string {
	switch c.by {
	case "workflow":
		return workflow
	case "model":
		return b.Model
	case "state":
		return b.State
	}
	return at.UTC().Format(time.DateOnly)
}

func usageOf(b *session.ModelSettled) session.Usage {
	u := session.Usage{ModelCalls: 1}
	if t := b.Usage; t != nil {
		u.InputTokens, u.OutputTokens, u.CacheReadTokens, u.CacheCreationTokens = t.Input, t.Output, t.CacheRead, t.CacheWrite
	} else {
		u.UnknownCalls = 1
	}
	if b.CostUSD != nil {
		u.CostUSD, u.PricedCalls = *b.CostUSD, 1
	}
	return u
}

// Table is what was counted.
func (c *UsageCounter) Table() UsageTable {
	t := UsageTable{Version: Version, By: c.by, Rows: []UsageRow{}, Total: c.total.report()}
	for _, key := range slices.Sorted(maps.Keys(c.rows)) {
		t.Rows = append(t.Rows, UsageRow{Key: key, UsageTotal: c.rows[key].report()})
	}
	return t
}
