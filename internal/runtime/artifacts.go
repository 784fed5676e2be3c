package runtime

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"

	"github.com/archmax-ai/archmax/internal/event"
	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/spec"
)

// maxTrajectory bounds trajectory.json; `sessions log` gives everything.
const maxTrajectory = 2 << 20

// writeArtifacts writes what is derived from the session, under artifacts/. It
// returns what went wrong: nothing here can fail a turn, and everything can be
// written again from the journal.
func (t *turn) writeArtifacts() []error {
	s := t.s()
	if s.Seq == 0 {
		return nil
	}
	var errs []error
	write := func(name string, v any) {
		raw, ok := v.([]byte)
		if !ok {
			var b bytes.Buffer
			enc := json.NewEncoder(&b)
			enc.SetEscapeHTML(false)
			enc.SetIndent("", "  ")
			if err := enc.Encode(v); err != nil {
				errs = append(errs, fmt.Errorf("artifacts/%s: %w", name, err))
				return
			}
			raw = b.Bytes()
		}
		if old, err := fs.ReadFile(t.w.Files(), "artifacts/"+name); err == nil && bytes.Equal(old, raw) {
			return
		}
		if err := t.w.Files().Write("artifacts/"+name, raw, false); err != nil {
			errs = append(errs, fmt.Errorf("artifacts/%s could not be written: %w", name, err))
		}
	}
	mermaid := Mermaid(t.m, nil)
	write("graph.json", graphOf(t.m, mermaid))
	write("graph.mmd", []byte(mermaid))
	write("trajectory.json", trajectoryOf(s))
	write("trail.json", struct {
		SessionID string      `json:"sessionId"`
		Workflow  string      `json:"workflow"`
		Steps     []TrailStep `json:"steps"`
	}{s.Session, s.Workflow, ReportTrail(s.Trail)})
	write("variables.json", s.Variables)
	write("metadata.json", struct {
		Contract string            `json:"contract"`
		Version  string            `json:"version"`
		SpecHash string            `json:"specHash"`
		Scripts  map[string]string `json:"scripts"`
		Usage    UsageReport       `json:"usage"`
	}{s.Contract, t.rt.opts.Version, s.SpecHash, nonNil(s.Scripts), ReportUsage(s.Usage)})
	return errs
}

func nonNil(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

// Graph is graph.json.
type Graph struct {
	Nodes   []string    `json:"nodes"`
	Edges   []GraphEdge `json:"edges"`
	Entry   []string    `json:"entry"`
	Finals  []string    `json:"finals"`
	Mermaid string      `json:"mermaid"`
}

// GraphEdge is one edge; a conditional one is an on_error route.
type GraphEdge struct {
	Source      string `json:"source"`
	Target      string `json:"target"`
	Conditional bool   `json:"conditional"`
	Label       string `json:"label"`
}

func graphOf(m *spec.Machine, mermaid string) Graph {
	g := Graph{Nodes: []string{}, Edges: []GraphEdge{}, Entry: []string{}, Finals: []string{}, Mermaid: mermaid}
	for _, s := range m.States {
		g.Nodes = append(g.Nodes, s.Slug)
		if len(s.Triggers) > 0 {
			g.Entry = append(g.Entry, s.Slug)
		}
		if s.Terminal() {
			g.Finals = append(g.Finals, s.Slug)
		}
		for _, e := range s.Transitions {
			g.Edges = append(g.Edges, GraphEdge{Source: s.Slug, Target: e.To, Conditional: len(s.Transitions) > 1, Label: e.Description})
		}
		if s.OnError != "" {
			g.Edges = append(g.Edges, GraphEdge{Source: s.Slug, Target: s.OnError, Conditional: true, Label: "on_error"})
		}
	}
	return g
}

// Trajectory is trajectory.json: what was said and called, state by state.
type Trajectory struct {
	SessionID string    `json:"sessionId"`
	Cut       string    `json:"cut,omitempty"`
	Segments  []Segment `json:"segments"`
}

// Segment is one stay in a state.
type Segment struct {
	State    string              `json:"state"`
	Messages []TrajectoryMessage `json:"messages"`
}

// TrajectoryMessage is a message with its calls.
type TrajectoryMessage struct {
	Role      string           `json:"role"`
	Note      string           `json:"note,omitempty"`
	Text      string           `json:"text,omitempty"`
	ToolCalls []TrajectoryCall `json:"toolCalls,omitempty"`
	TS        string           `json:"ts"`
}

// TrajectoryCall is a call with its result.
type TrajectoryCall struct {
	ID     string          `json:"id"`
	Tool   string          `json:"tool"`
	Args   json.RawMessage `json:"args"`
	Status string          `json:"status,omitempty"`
	Result string          `json:"result,omitempty"`
	Rule   string          `json:"rule,omitempty"`
}

// trajectoryOf cuts to the newest maxTrajectory bytes of text, whole messages.
func trajectoryOf(s *session.State) Trajectory {
	first, size := len(s.Messages), 0
	for first > 0 {
		m := s.Messages[first-1]
		n := len(m.Text) + 200
		for _, c := range m.Calls {
			n += len(c.Args) + 200
			if c.Result != nil {
				n += len(c.Result.Text)
			}
		}
		if size += n; size > maxTrajectory {
			break
		}
		first--
	}
	tr := Trajectory{SessionID: s.Session, Segments: []Segment{}}
	if first > 0 {
		tr.Cut = fmt.Sprintf("the first %d messages were left out; `archmax sessions log` gives everything", first)
	}
	for _, m := range s.Messages[first:] {
		if n := len(tr.Segments); n == 0 || tr.Segments[n-1].State != m.State {
			tr.Segments = append(tr.Segments, Segment{State: m.State, Messages: []TrajectoryMessage{}})
		}
		seg := &tr.Segments[len(tr.Segments)-1]
		out := TrajectoryMessage{Role: m.Role, Note: m.Note, Text: m.Text, TS: m.TS.UTC().Format(event.TimeFormat)}
		for _, c := range m.Calls {
			call := TrajectoryCall{ID: c.ID, Tool: c.Name, Args: session.ArgsOf(c)}
			if c.Result != nil {
				call.Status, call.Result, call.Rule = c.Result.Status, c.Result.Text, c.Result.Rule
			}
			out.ToolCalls = append(out.ToolCalls, call)
		}
		seg.Messages = append(seg.Messages, out)
	}
	return tr
}

// scriptHashes is the SHA-256 of each script that a turn could run.
func (t *turn) scriptHashes() map[string]string {
	out := map[string]string{}
	add := func(file string) {
		name := path.Join("workflows", t.m.Slug, file)
		if raw, err := fs.ReadFile(t.rt.opts.Root, name); err == nil {
			sum := sha256.Sum256(raw)
			out[file] = hex.EncodeToString(sum[:])
		}
	}
	for _, s := range t.m.States {
		if s.Script != "" {
			add(s.Script)
		}
		for _, h := range append(s.Before[:len(s.Before):len(s.Before)], s.After...) {
			if h.Script != "" {
				add(h.Script)
			}
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
