package runtime

import (
	"fmt"
	"time"

	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/spec"
	"github.com/archmax-ai/archmax/internal/workspace"
)

// checkSeeds refuses bad names, a name given twice, the runtime's own trigger,
// and a bad title, before anything is read or written.
func checkSeeds(seeds []Seed, files []File) error {
	seen := map[string]bool{}
	bad := func(format string, args ...any) error {
		return &Error{ErrCode: "bad-variable", Message: fmt.Sprintf(format, args...), Hint: "nothing was changed"}
	}
	check := func(name string) error {
		switch {
		case !spec.ValidVariableName(name):
			return bad("%q is no variable name (a lower-case letter, then lower-case letters, digits and _)", name)
		case name == "trigger":
			return bad("variable \"trigger\" is the runtime's own and cannot be given")
		case seen[name]:
			return bad("variable %q is given twice", name)
		}
		seen[name] = true
		return nil
	}
	for _, s := range seeds {
		if err := check(s.Name); err != nil {
			return err
		}
		if s.Name == "title" {
			if why := badTitle(session.Decode(s.Value)); why != "" {
				return bad("%s", why)
			}
		}
	}
	for _, f := range files {
		if err := check(f.Name); err != nil {
			return err
		}
		if f.Name == "title" {
			return bad("a file cannot be the title")
		}
	}
	return nil
}

// plannedFile is a file of the arrival with the session path it will have (or,
// when the name is taken, that path with a number).
type plannedFile struct {
	File
	path string
}

// plan says where the files of an arrival go, and refuses names that cannot be
// placed. Nothing is written.
func plan(files []File) ([]plannedFile, error) {
	var out []plannedFile
	for _, f := range files {
		base, err := workspace.AttachmentName(f.Base)
		if err != nil {
			return nil, &Error{ErrCode: "bad-file", Message: err.Error(), Hint: "nothing was changed"}
		}
		out = append(out, plannedFile{File: f, path: workspace.Attachments + "/" + base})
	}
	return out, nil
}

// place writes the planned files and sets the paths they got.
func (t *turn) place(files []plannedFile) error {
	for i, f := range files {
		placed, err := workspace.Attach(t.w.Files(), f.Base, f.Content)
		if err != nil {
			return &Error{ErrCode: "bad-file", Message: fmt.Sprintf("file %q could not be placed in the session: %s", f.Base, err), Hint: "the session is as it was", Err: err}
		}
		files[i].path = placed
	}
	return nil
}

// seedRecord stores the seeds and the files' paths, locked; the title is never
// locked, and kept when the session has one. nil when there is nothing to set.
func (t *turn) seedRecord(seeds []Seed, files []plannedFile) *session.VariablesSet {
	set := &session.VariablesSet{Host: true}
	_, titled := t.s().Variables["title"]
	for _, s := range seeds {
		if s.Name == "title" && titled {
			continue
		}
		set.Set = append(set.Set, session.NewVariable{Name: s.Name, Value: s.Value, Locked: s.Name != "title"})
	}
	for _, f := range files {
		raw, _ := session.Encode(f.path) // a string always encodes
		set.Set = append(set.Set, session.NewVariable{Name: f.Name, Value: raw, Locked: true})
	}
	if len(set.Set) == 0 {
		return nil
	}
	return set
}

// signature is the evidence against which a trigger's entries are checked: the
// session's variables, what this arrival brings, and the files behind paths.
type signature struct {
	values map[string]any
	seeds  []Seed
	files  []plannedFile
	ws     *workspace.Workspace // nil: the session does not exist yet
	now    time.Time
}

func (sig signature) check(entries []*spec.Entry) []spec.Issue {
	for _, s := range sig.seeds {
		sig.values[s.Name] = session.Decode(s.Value)
	}
	for _, f := range sig.files {
		sig.values[f.Name] = f.path
	}
	return spec.Check(entries, sig.values, sig.env())
}

func (sig signature) env() spec.CheckEnv {
	return spec.CheckEnv{Now: sig.now, File: func(p string) (int64, string, bool) {
		for _, f := range sig.files {
			if f.path == p {
				return int64(len(f.Content)), workspace.MediaType(p, f.Content), true
			}
		}
		if sig.ws == nil {
			return 0, "", false
		}
		info, err := sig.ws.Stat(p)
		if err != nil || info.Dir {
			return 0, "", false
		}
		content, err := sig.ws.ReadFile(p)
		return info.Size, workspace.MediaType(p, content), err == nil
	}}
}

// signature returns the evidence of the open session plus what an arrival
// brings.
func (t *turn) signature(seeds []Seed, files []plannedFile) signature {
	return signature{values: t.s().Values(), seeds: seeds, files: files, ws: t.ws, now: t.now(time.Now())}
}

// missingReturns says which declared returns of the contract a terminal
// top-level session leaves unset or not conforming, "" when none. Only names
// that the contract had when its turn opened are asked for.
func (t *turn) missingReturns(state *spec.State) string {
	s := t.s()
	if s.Parent != "" || len(s.Returns) == 0 {
		return ""
	}
	trigger, _ := t.m.Trigger(s.Contract)
	if trigger == nil {
		return ""
	}
	issues := t.signature(nil, nil).check(trigger.Returns)
	if len(issues) == 0 {
		return ""
	}
	why := fmt.Sprintf("state %q ended the run without what trigger %q returns:", state.Slug, s.Contract)
	for i, issue := range issues {
		if i > 0 {
			why += ";"
		}
		why += " " + issue.Message
	}
	return why
}
