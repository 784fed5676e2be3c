package render

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"time"

	"github.com/archmax-ai/archmax/internal/event"
	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/session"
)

// Summary is a session as printed (spec: formats.md, "Session summary"). A
// damaged session has only its id, or its folder, and the error.
type Summary struct {
	Version         int                  `json:"version"`
	SessionID       string               `json:"sessionId,omitempty"`
	Folder          string               `json:"folder,omitempty"` // of a damaged session whose id cannot be read
	ParentSessionID string               `json:"parentSessionId,omitempty"`
	Workflow        string               `json:"workflow,omitempty"`
	Title           string               `json:"title,omitempty"`
	Status          session.Status       `json:"status,omitempty"`
	Classification  string               `json:"classification,omitempty"` // open, finished
	State           string               `json:"state,omitempty"`
	SpecHash        string               `json:"specHash,omitempty"`
	CreatedAt       string               `json:"createdAt,omitempty"`
	UpdatedAt       string               `json:"updatedAt,omitempty"`
	ParkedChannel   session.Channel      `json:"parkedChannel,omitempty"`
	WaitReason      string               `json:"waitReason,omitempty"`
	ResumeAt        string               `json:"resumeAt,omitempty"`
	Pending         any                  `json:"pending,omitempty"` // as in an Outcome
	Exit            *runtime.Exit        `json:"exit,omitempty"`
	Rejected        string               `json:"rejected,omitempty"`
	Variables       any                  `json:"variables,omitempty"` // listed: names, sorted; one session: name -> Variable
	Usage           *runtime.UsageReport `json:"usage,omitempty"`
	Error           string               `json:"error,omitempty"`

	// Of one session only.
	Trail *[]runtime.TrailStep `json:"trail,omitempty"`
	Files *[]FileSize          `json:"files,omitempty"`
	Turns *int                 `json:"turns,omitempty"`

	updated, resumeAt time.Time
}

// FileSize is a session file; Path is relative to the session's folder, with
// slashes.
type FileSize struct {
	Path string `json:"path"`
	Size int64  `json:"size"` // bytes
}

// Sessions is the listing.
type Sessions struct {
	Version  int       `json:"version"`
	Sessions []Summary `json:"sessions"`
}

// NewSessions sorts the summaries: newest update first, then id; damaged ones,
// which have no time, last.
func NewSessions(list []Summary) Sessions {
	list = slices.Clone(orEmpty(list))
	slices.SortFunc(list, func(a, b Summary) int {
		return cmp.Or(b.updated.Compare(a.updated), cmp.Compare(a.Name(), b.Name()))
	})
	return Sessions{Version: Version, Sessions: list}
}

// Name is the session's id, or the folder of one whose id cannot be read.
func (s Summary) Name() string { return cmp.Or(s.SessionID, s.Folder) }

// Due reports whether the session is parked until a time that is not after now
// (`sessions --due`).
func (s Summary) Due(now time.Time) bool { return !s.resumeAt.IsZero() && !s.resumeAt.After(now) }

// hashedFolder is the folder of an id that cannot be a folder's name itself
// (spec: sessions.md, "Layout").
var hashedFolder = regexp.MustCompile(`^%.*-[0-9a-f]{16}$`)

// Damaged is the summary of a session that cannot be read.
func Damaged(name string, err error) Summary {
	s := Summary{Version: Version, Error: OneLine(err.Error())}
	if hashedFolder.MatchString(name) {
		s.Folder = name
	} else {
		s.SessionID = name
	}
	return s
}

// SummarizeEntry is a listed session.
func SummarizeEntry(e session.Entry) Summary {
	if e.Err != nil {
		return Damaged(e.ID, e.Err)
	}
	s := summarize(e.Control)
	s.Variables = slices.AppendSeq([]string{}, slices.Values(slices.Sorted(maps.Keys(e.Control.Variables))))
	return s
}

// SummarizeState is one session in full; files in any order.
func SummarizeState(st *session.State, files []FileSize) Summary {
	s := summarize(&st.Control)
	vars := st.Variables
	if vars == nil {
		vars = map[string]session.Variable{}
	}
	trail, turns := runtime.ReportTrail(st.Trail), st.Turns
	files = slices.Clone(orEmpty(files))
	slices.SortFunc(files, func(a, b FileSize) int { return cmp.Compare(a.Path, b.Path) })
	s.Variables, s.Trail, s.Files, s.Turns = vars, &trail, &files, &turns
	return s
}

func summarize(c *session.Control) Summary {
	usage := runtime.ReportUsage(c.Usage)
	title, _ := session.Decode(c.Variables["title"].Value).(string)
	s := Summary{
		Version: Version, SessionID: c.Session, ParentSessionID: c.Parent, Workflow: c.Workflow, Title: title,
		Status: c.Status, Classification: "open", State: c.Position, SpecHash: c.SpecHash,
		CreatedAt: stamp(c.CreatedAt), UpdatedAt: stamp(c.UpdatedAt), Usage: &usage, updated: c.UpdatedAt,
	}
	if c.Status.Finished() {
		s.Classification = "finished"
	}
	switch c.Status {
	case session.StatusCompleted:
		s.Exit = &runtime.Exit{Success: true}
	case session.StatusFailed:
		s.Exit = &runtime.Exit{Code: c.SettledCode, Reason: c.Reason}
	case session.StatusRejected:
		s.Rejected = c.Reason
	}
	if p := c.Park; p != nil {
		s.ParkedChannel = p.Channel
		s.Pending = filled(runtime.PendingOf(c))
		if p.Channel == session.Input {
			s.WaitReason = p.Reason
		}
		if p.ResumeAt != nil {
			s.resumeAt = *p.ResumeAt
			s.ResumeAt = stamp(*p.ResumeAt)
		}
	}
	return s
}

// stamp is a time as every document prints it, "" for none.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(event.TimeFormat)
}
