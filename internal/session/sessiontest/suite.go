// Package sessiontest is the conformance suite that every session.Store passes
// (spec: sessions.md, "Behind an interface").
package sessiontest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/archmax-ai/archmax/internal/event"
	"github.com/archmax-ai/archmax/internal/session"
)

// Run runs the suite on the empty stores that open returns.
func Run(t *testing.T, open func(t *testing.T) session.Store) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, s session.Store)
	}{
		{"a session that does not exist is not found at any door", absent},
		{"a bad id is refused at every door", badIDs},
		{"a prepared session leaves nothing behind until its first append", prepared},
		{"what was appended is there after reopening", reopened},
		{"records are numbered from 1 and dated", numbered},
		{"appended bodies may be changed afterwards", notAliased},
		{"the events of an append are those of a replay", replayed},
		{"a frame that the fold refuses leaves the session as it was", contradicted},
		{"a closed writer appends nothing", closed},
		{"a second writer is told who is busy", busy},
		{"children share their root's lock", children},
		{"a cancel reaches the writers of the session and of its children", cancelled},
		{"a running session without a writer is interrupted", interrupted},
		{"a listing holds every session with its control state", listed},
		{"delete removes the session and its children", deleted},
		{"files are written, listed and removed", files},
		{"a new session's files come with its first append", filesBeforeAppend},
		{"specs are stored once, under their hash", specs},
		{"prompt texts are kept with the session, under their key", prompts},
		{"concurrent appends keep every record once", concurrent},
		{"follow sees what is appended meanwhile", followed},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}

var bg = context.Background()

// opening is a session's first frame.
func opening(id string) []session.Body {
	return []session.Body{
		&session.Created{Session: id, Workflow: "order-lookup", Parent: session.Parent(id)},
		&session.Turn{Arrival: session.ArriveTurn, Trigger: "manual", Spec: "abc"},
		&session.Moved{To: "triage", Step: session.StepTrigger, As: "agent", Reason: "manual"},
		&session.NewMessage{Role: "user", Text: "Where is <my> order & why?"},
	}
}

func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func create(t *testing.T, s session.Store, id string) session.Writer {
	t.Helper()
	w := must[session.Writer](t)(s.Open(bg, id, true))
	add(t, w, opening(id)...)
	return w
}

func add(t *testing.T, w session.Writer, bodies ...session.Body) []event.Event {
	t.Helper()
	return must[[]event.Event](t)(w.Append(bodies...))
}

func shut(t *testing.T, w session.Writer) {
	t.Helper()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func records(t *testing.T, s session.Store, id string, from uint64) []session.Record {
	t.Helper()
	var out []session.Record
	for rec, err := range s.Records(bg, id, from) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, rec)
	}
	return out
}

func recordsErr(s session.Store, id string) (err error) {
	for _, e := range s.Records(bg, id, 1) {
		err = e
	}
	return err
}

// doors calls everything that takes an id of a session that must be there.
func doors(s session.Store, id string) map[string]error {
	_, opened := s.Open(bg, id, false)
	_, loaded := s.Load(bg, id)
	_, files := s.Files(bg, id)
	return map[string]error{
		"Open": opened, "Load": loaded, "Files": files, "Records": recordsErr(s, id),
		"Delete": s.Delete(bg, id), "Cancel": s.Cancel(bg, id),
	}
}

func absent(t *testing.T, s session.Store) {
	for _, id := range []string{"nobody", "nobody~1", "An odd id/with a slash"} {
		for door, err := range doors(s, id) {
			var missing session.NotFoundError
			if !errors.As(err, &missing) {
				t.Errorf("%s(%q): got %v, want NotFoundError", door, id, err)
			}
		}
	}
	if list := must[[]session.Entry](t)(s.List(bg)); len(list) != 0 {
		t.Errorf("an empty store lists %v", list)
	}
	var missing session.NotFoundError
	if _, err := s.Open(bg, "nobody~1", true); !errors.As(err, &missing) || missing.ID != "nobody" {
		t.Errorf("creating a child without its root: got %v, want NotFoundError of the root", err)
	}
}

func badIDs(t *testing.T, s session.Store) {
	for _, id := range []string{"", "../up", "a\nb", "workflows", "a~b"} {
		all := doors(s, id)
		_, all["Open to create"] = s.Open(bg, id, true)
		for door, err := range all {
			var bad session.IDError
			if !errors.As(err, &bad) {
				t.Errorf("%s(%q): got %v, want IDError", door, id, err)
			}
		}
	}
}

func prepared(t *testing.T, s session.Store) {
	w := must[session.Writer](t)(s.Open(bg, "s1", true))
	if _, err := s.Load(bg, "s1"); !errors.As(err, new(session.NotFoundError)) {
		t.Errorf("a prepared session loads: %v", err)
	}
	if _, err := s.Open(bg, "s1", true); !errors.As(err, new(session.BusyError)) {
		t.Errorf("a prepared session opens twice: %v", err)
	}
	if events, err := w.Append(); events != nil || err != nil {
		t.Errorf("appending nothing: got %v, %v", events, err)
	}
	shut(t, w)
	if list := must[[]session.Entry](t)(s.List(bg)); len(list) != 0 {
		t.Errorf("a session that was never appended to is listed: %v", list)
	}
	w = create(t, s, "s1")
	if _, err := s.Load(bg, "s1"); err != nil {
		t.Errorf("after its first append: %v", err)
	}
	shut(t, w)
}

func fingerprint(t *testing.T, s *session.State) string {
	t.Helper()
	raw, err := json.Marshal(struct {
		C session.Control
		T []session.Step
		M []*session.Message
	}{s.Control, s.Trail, s.Messages})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func reopened(t *testing.T, s session.Store) {
	w := create(t, s, "s1")
	add(t, w, &session.ModelSettled{Role: "agent", State: "triage", Calls: []session.NewCall{{ID: "c1", Name: "ls"}}})
	add(t, w, &session.Intent{Call: "c1", Args: json.RawMessage(`{ "path" : "/", "n": 9007199254740993 }`)})
	add(t, w, &session.Result{Call: "c1", Status: "ok", Text: "bad \xff byte, </script>, \u2028, nul \x00."})
	add(t, w,
		&session.VariablesSet{Set: []session.NewVariable{{Name: "total", Value: json.RawMessage(`9007199254740993`), Locked: true}}},
		&session.Settled{As: session.Completed})
	if err := w.Snapshot(); err != nil {
		t.Fatal(err)
	}
	want := fingerprint(t, w.State())
	shut(t, w)

	loaded := must[*session.State](t)(s.Load(bg, "s1"))
	if got := fingerprint(t, loaded); got != want {
		t.Errorf("loaded\n%s\nwant\n%s", got, want)
	}
	w = must[session.Writer](t)(s.Open(bg, "s1", false))
	defer shut(t, w)
	if got := fingerprint(t, w.State()); got != want {
		t.Errorf("reopened\n%s\nwant\n%s", got, want)
	}
	if got := string(w.State().Variables["total"].Value); got != "9007199254740993" {
		t.Errorf("a large number became %s", got)
	}
	if w.State().Status != session.StatusCompleted || w.State().Seq != 9 {
		t.Errorf("status %s, seq %d; want completed, 9", w.State().Status, w.State().Seq)
	}
	add(t, w, &session.Turn{Arrival: session.ArriveTurn, Trigger: "manual", Spec: "abc"})
	if w.State().Turns != 2 {
		t.Errorf("turns %d, want 2", w.State().Turns)
	}
}

func numbered(t *testing.T, s session.Store) {
	w := create(t, s, "s1")
	defer shut(t, w)
	add(t, w, &session.Settled{As: session.Completed})
	recs := records(t, s, "s1", 0)
	if len(recs) != 5 {
		t.Fatalf("%d records, want 5", len(recs))
	}
	for i, rec := range recs {
		if rec.Seq != uint64(i+1) || rec.V != session.Version || rec.TS.IsZero() || rec.TS.Location() != time.UTC || rec.TS.Nanosecond()%1e6 != 0 {
			t.Errorf("record %d: seq %d, v %d, ts %v", i, rec.Seq, rec.V, rec.TS)
		}
	}
	if got := records(t, s, "s1", 5); len(got) != 1 || got[0].Body.Kind() != session.KindSettled {
		t.Errorf("from 5: %v", got)
	}
	if got := records(t, s, "s1", 6); len(got) != 0 {
		t.Errorf("from past the end: %v", got)
	}
	for range s.Records(bg, "s1", 1) {
		break // leaving the loop early is fine
	}
}

func notAliased(t *testing.T, s session.Store) {
	w := create(t, s, "s1")
	defer shut(t, w)
	items := &session.Todos{Items: []session.Todo{{Content: "ask", Status: "pending"}}}
	add(t, w, items)
	items.Items[0].Content = "changed"
	if got := w.State().Todos[0].Content; got != "ask" {
		t.Errorf("the state holds %q", got)
	}
}

func replayed(t *testing.T, s session.Store) {
	w := must[session.Writer](t)(s.Open(bg, "s1", true))
	live := add(t, w, opening("s1")...)
	live = append(live, add(t, w, &session.ModelSettled{Role: "agent", State: "triage", Text: "Hello.", Usage: &session.Tokens{Input: 3, Output: 1}})...)
	live = append(live, add(t, w, &session.Settled{As: session.Completed})...)
	shut(t, w)
	var again []event.Event
	for e, err := range session.Replay(bg, s, "s1") {
		if err != nil {
			t.Fatal(err)
		}
		again = append(again, e)
	}
	a, _ := json.Marshal(live)
	b, _ := json.Marshal(again)
	if string(a) != string(b) || len(live) < 4 {
		t.Errorf("live\n%s\nreplayed\n%s", a, b)
	}
	for i, e := range live {
		if e.Seq != uint64(i+1) || e.SessionID != "s1" {
			t.Errorf("event %d has seq %d and session %q", i+1, e.Seq, e.SessionID)
		}
	}
}

func contradicted(t *testing.T, s session.Store) {
	w := create(t, s, "s1")
	defer shut(t, w)
	want := fingerprint(t, w.State())
	if _, err := w.Append(&session.NewMessage{Role: "user", Text: "x"}, &session.Result{Call: "nobody", Status: "ok"}); err == nil {
		t.Fatal("a result of no call was taken")
	}
	if got := fingerprint(t, w.State()); got != want {
		t.Errorf("state\n%s\nwant\n%s", got, want)
	}
	add(t, w, &session.Settled{As: session.Completed})
	if n := len(records(t, s, "s1", 1)); n != 5 {
		t.Errorf("%d records, want 5", n)
	}
	if _, err := w.Append(&session.Intent{Call: "c", Args: json.RawMessage("{")}); err == nil {
		t.Error("arguments that are no JSON were taken")
	}
}

func closed(t *testing.T, s session.Store) {
	w := create(t, s, "s1")
	shut(t, w)
	shut(t, w) // again does nothing
	if _, err := w.Append(&session.Settled{As: session.Completed}); err == nil {
		t.Error("a closed writer appended")
	}
	if err := w.Snapshot(); err == nil {
		t.Error("a closed writer took a snapshot")
	}
	if n := len(records(t, s, "s1", 1)); n != 4 {
		t.Errorf("%d records, want 4", n)
	}
}

func busy(t *testing.T, s session.Store) {
	w := create(t, s, "s1")
	before := records(t, s, "s1", 1)
	_, opened := s.Open(bg, "s1", false)
	_, created := s.Open(bg, "s1", true)
	for door, err := range map[string]error{"Open": opened, "Open to create": created, "Delete": s.Delete(bg, "s1")} {
		var b session.BusyError
		if !errors.As(err, &b) || b.ID != "s1" || b.PID == 0 || b.Since.IsZero() {
			t.Errorf("%s: got %#v, want BusyError naming the holder", door, err)
		}
	}
	if len(records(t, s, "s1", 1)) != len(before) {
		t.Error("a refused writer changed the session")
	}
	other := create(t, s, "s2") // sessions are independent
	shut(t, other)
	shut(t, w)
	w = must[session.Writer](t)(s.Open(bg, "s1", false))
	shut(t, w)
}

func children(t *testing.T, s session.Store) {
	root := create(t, s, "s1")
	child := create(t, s, "s1~1")
	grand := create(t, s, "s1~1~4")
	if _, err := s.Open(bg, "s1~1", false); !errors.As(err, new(session.BusyError)) {
		t.Errorf("a child opens twice: %v", err)
	}
	shut(t, grand)
	shut(t, child)
	child = must[session.Writer](t)(s.Open(bg, "s1~1", false))
	shut(t, root)
	if _, err := s.Open(bg, "s1", false); !errors.As(err, new(session.BusyError)) {
		t.Errorf("the root opens while a child is at work: %v", err)
	}
	shut(t, child)
	// Alone, a child takes its root's lock.
	child = must[session.Writer](t)(s.Open(bg, "s1~1", false))
	if _, err := s.Open(bg, "s1", false); !errors.As(err, new(session.BusyError)) {
		t.Errorf("the root opens while a child holds its lock: %v", err)
	}
	shut(t, child)
	root = must[session.Writer](t)(s.Open(bg, "s1", false))
	shut(t, root)
}

func cancelled(t *testing.T, s session.Store) {
	w := create(t, s, "s1")
	child := create(t, s, "s1~1")
	select {
	case <-w.Cancelled():
		t.Fatal("cancelled before anybody asked")
	default:
	}
	for range 2 { // asking twice is fine
		if err := s.Cancel(bg, "s1~1"); err != nil {
			t.Fatal(err)
		}
	}
	for _, one := range []session.Writer{w, child} {
		select {
		case <-one.Cancelled():
		case <-time.After(5 * time.Second):
			t.Fatal("the cancel did not arrive")
		}
	}
	shut(t, child)
	shut(t, w)
	if err := s.Cancel(bg, "s1"); !errors.As(err, new(session.IdleError)) {
		t.Errorf("nothing at work: got %v, want IdleError", err)
	}
	w = must[session.Writer](t)(s.Open(bg, "s1", false))
	defer shut(t, w)
	add(t, w, &session.Warned{Message: "x"})
	select {
	case <-w.Cancelled():
		t.Error("the next turn was cancelled too")
	case <-time.After(250 * time.Millisecond):
	}
}

func interrupted(t *testing.T, s session.Store) {
	w := create(t, s, "s1")
	status := func() session.Status {
		t.Helper()
		loaded := must[*session.State](t)(s.Load(bg, "s1")).Status
		if listed := must[[]session.Entry](t)(s.List(bg))[0].Control.Status; listed != loaded {
			t.Errorf("listed as %s, loaded as %s", listed, loaded)
		}
		return loaded
	}
	if got := status(); got != session.StatusRunning {
		t.Errorf("at work: %s", got)
	}
	shut(t, w)
	if got := status(); got != session.StatusInterrupted {
		t.Errorf("its writer gone: %s", got)
	}
	w = must[session.Writer](t)(s.Open(bg, "s1", false))
	if w.State().Status != session.StatusRunning || !w.State().TurnOpen {
		t.Errorf("a writer sees %s; interrupted is for readers", w.State().Status)
	}
	add(t, w, &session.Parked{Channel: session.Input, Reason: "payment"})
	shut(t, w)
	if got := status(); got != session.StatusAwaitingInput {
		t.Errorf("parked: %s", got)
	}
}

func listed(t *testing.T, s session.Store) {
	ids := []string{"Odd id / with 中文", "s1", "s1~1", "s1~1~1", "s2"}
	for _, id := range ids {
		w := create(t, s, id)
		add(t, w, &session.Settled{As: session.Completed})
		if id != "s2" {
			if err := w.Snapshot(); err != nil {
				t.Fatal(err)
			}
		}
		shut(t, w)
	}
	list := must[[]session.Entry](t)(s.List(bg))
	slices.SortFunc(list, func(a, b session.Entry) int { return slices.Index(ids, a.ID) - slices.Index(ids, b.ID) })
	if len(list) != len(ids) {
		t.Fatalf("%d entries, want %d", len(list), len(ids))
	}
	for i, e := range list {
		if e.ID != ids[i] || e.Err != nil || e.Control.Session != ids[i] || e.Control.Status != session.StatusCompleted || e.Control.Parent != session.Parent(ids[i]) {
			t.Errorf("entry %d: %+v", i, e)
		}
	}
}

func deleted(t *testing.T, s session.Store) {
	for _, id := range []string{"s1", "s1~1", "s1~1~2", "s1~2", "s10", "s1-b", "Odd", "Odd~1"} {
		shut(t, create(t, s, id))
	}
	for _, id := range []string{"s1", "Odd"} {
		if err := s.Delete(bg, id); err != nil {
			t.Fatal(err)
		}
		if err := s.Delete(bg, id); !errors.As(err, new(session.NotFoundError)) {
			t.Errorf("deleting %s again: %v", id, err)
		}
	}
	var left []string
	for _, e := range must[[]session.Entry](t)(s.List(bg)) {
		left = append(left, e.ID)
	}
	slices.Sort(left)
	if want := []string{"s1-b", "s10"}; !slices.Equal(left, want) {
		t.Errorf("left %v, want %v", left, want)
	}
	w := create(t, s, "s1") // the id is free again
	if w.State().Seq != 4 {
		t.Errorf("the new session begins at %d", w.State().Seq)
	}
	shut(t, w)
}

func concurrent(t *testing.T, s session.Store) {
	w := create(t, s, "s1")
	const workers, each = 8, 20
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			for n := range each {
				events, err := w.Append(&session.Warned{Message: fmt.Sprintf("%d/%d", i, n)})
				if err != nil || len(events) != 1 || events[0].Payload.(event.Warning).Message != fmt.Sprintf("%d/%d", i, n) {
					t.Errorf("append %d/%d: %v, %v", i, n, events, err)
				}
			}
		})
	}
	wg.Wait()
	shut(t, w)
	seen := map[string]int{}
	for _, rec := range records(t, s, "s1", 5) {
		seen[rec.Body.(*session.Warned).Message]++
	}
	for i := range workers {
		for n := range each {
			if seen[fmt.Sprintf("%d/%d", i, n)] != 1 {
				t.Errorf("record %d/%d is there %d times", i, n, seen[fmt.Sprintf("%d/%d", i, n)])
			}
		}
	}
}

func followed(t *testing.T, s session.Store) {
	w := create(t, s, "s1")
	defer shut(t, w)
	ctx, stop := context.WithTimeout(bg, 10*time.Second)
	defer stop()
	var got []session.Kind
	for rec, err := range session.Follow(ctx, s, "s1", 4) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, rec.Body.Kind())
		if rec.Seq == 4 {
			add(t, w, &session.Warned{Message: "x"})
		}
		if rec.Seq == 5 {
			add(t, w, &session.Settled{As: session.Completed})
		}
		if rec.Seq == 6 {
			break
		}
	}
	if want := []session.Kind{session.KindMessage, session.KindWarning, session.KindSettled}; !slices.Equal(got, want) {
		t.Errorf("followed %v, want %v", got, want)
	}
	for _, err := range session.Follow(bg, s, "nobody", 1) {
		if !errors.As(err, new(session.NotFoundError)) {
			t.Errorf("following nobody: %v", err)
		}
	}
	stop()
	for range session.Follow(ctx, s, "s1", 1) {
		t.Error("a follow that was ended yields")
	}
}
