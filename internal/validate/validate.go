// Package validate checks workflows beyond what the loader does, before a model
// is paid: against the workspace they live in (skills, mounts, tools, other
// workflows) and as graphs (spec: language.md, "What `validate` adds").
//
// What the loader reports is not reported again. Where a rule is the kernel's,
// the kernel is asked: a grant is refused here when governance.Decide refuses
// the calls that it would grant, so validate and the runtime cannot disagree.
//
// A finding is made only when it is certain. A glob matches more texts than can
// be tried; an entry counts as refused when every sample of it is, samples that
// differ in length, depth and characters, and as covered in part when one call
// shows it.
package validate

import (
	"io/fs"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/governance"
	"github.com/archmax-ai/archmax/internal/spec"
)

// DefaultMaxDepth is how deep workflows may call each other when archmax.yaml
// does not say (delegation.md).
const DefaultMaxDepth = 3

// Input is the workspace that workflows are checked against.
type Input struct {
	Root fs.FS // the workspace's root

	// Tools are the host tools that the workspace declares, by full name and with
	// their path arguments; those listed in essential_tools are AlwaysOn. Nil
	// means that they are not known (archmax.yaml cannot be read): then no name
	// is held to be a mistake. The tools of MCP servers, <server>__<action>, need
	// not be here: nobody knows them before the server is asked.
	Tools []governance.ToolInfo

	// Essential are the names in essential_tools, built-in and host tools alike.
	Essential []string

	Mounts   []governance.Mount // the resolved mount table
	Skills   []string           // slugs of the bundles that exist
	MaxDepth int                // sub_workflows.max_depth; 0: DefaultMaxDepth

	// Load reads a workflow for the checks of delegation. Nil: spec.Inspect on
	// Root. Workspace puts one here that reads each workflow once.
	Load func(slug string) (*spec.Machine, diag.List)
}

// Result is one checked workflow.
type Result struct {
	Workflow    string
	Machine     *spec.Machine // nil when the list has an error
	Diagnostics diag.List     // the loader's and Check's, in file order
}

// Workspace loads and checks workflows, all of the workspace's when no slug is
// named. The results are in the order of the slugs given, else sorted. The error
// says that the workflows cannot be listed.
func Workspace(in Input, slugs ...string) ([]Result, error) {
	if len(slugs) == 0 {
		var err error
		if slugs, err = spec.Slugs(in.Root); err != nil {
			return nil, err
		}
	}
	unshared := in
	in.Load = once(unshared.load)
	results := make([]Result, len(slugs))
	var work errgroup.Group
	work.SetLimit(runtime.GOMAXPROCS(0))
	for i, slug := range slugs {
		work.Go(func() error {
			results[i] = check(in, slug)
			return nil
		})
	}
	return results, work.Wait()
}

func check(in Input, slug string) Result {
	m, loaded := in.Load(slug)
	r := Result{Workflow: slug, Diagnostics: slices.Clone(loaded)}
	if m != nil {
		r.Diagnostics = append(r.Diagnostics, Check(in, m)...)
		r.Diagnostics.Sort()
	}
	if !r.Diagnostics.HasErrors() {
		r.Machine = m
	}
	return r
}

func (in *Input) load(slug string) (*spec.Machine, diag.List) {
	if in.Load != nil {
		return in.Load(slug)
	}
	return spec.Inspect(in.Root, slug)
}

// once reads each workflow once, whoever asks, from several goroutines at once.
func once(load func(string) (*spec.Machine, diag.List)) func(string) (*spec.Machine, diag.List) {
	type entry struct {
		sync.Once
		m    *spec.Machine
		list diag.List
	}
	var mu sync.Mutex
	entries := map[string]*entry{}
	return func(slug string) (*spec.Machine, diag.List) {
		mu.Lock()
		e := entries[slug]
		if e == nil {
			e = &entry{}
			entries[slug] = e
		}
		mu.Unlock()
		e.Do(func() { e.m, e.list = load(slug) })
		return e.m, e.list
	}
}

// Check returns what is wrong with a workflow beyond what its loading said, in
// file order. The machine may come from spec.Inspect and have errors: what hangs
// on them is passed over.
func Check(in Input, m *spec.Machine) diag.List {
	if in.MaxDepth <= 0 {
		in.MaxDepth = DefaultMaxDepth
	}
	c := newChecker(&in, m)
	c.rootBlocks()
	c.emptyLists()
	c.skills()
	c.mounts()
	c.toolNames()
	c.argumentNames()
	c.grants()
	c.forbids()
	c.evidence()
	c.terminalRequires()
	c.delegation()
	g := newGraph(c)
	g.reachability()
	g.traps()
	g.loops()
	g.guards()
	return c.d.Diagnostics(m.File)
}
