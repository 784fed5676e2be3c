package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/event"
	"github.com/archmax-ai/archmax/internal/model"
	"github.com/archmax-ai/archmax/internal/render"
	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/spec"
	"github.com/archmax-ai/archmax/internal/workspace"
)

// This file alone knows how the parts of the program are made and put together.

// openStore is the workspace's session store.
func openStore(ws *Workspace) (session.Store, error) {
	return session.NewFSStore(ws.Sessions, nil), nil
}

// openMemory is a store that keeps nothing (--ephemeral).
func openMemory() session.Store { return session.NewMemStore(nil) }

// loadMachine loads the workflow named slug; its errors come all at once.
func loadMachine(ws *Workspace, slug string) (*spec.Machine, error) {
	m, problems := spec.Load(ws.FS(), slug)
	if problems.HasErrors() {
		return nil, &diagnosticsError{root: ws.Root, list: problems}
	}
	return m, nil
}

// openMounts opens the workspace's mounts and skills.
func openMounts(ws *Workspace) (*workspace.Shared, diag.List) {
	c := ws.Config
	table := workspace.DefaultMounts()
	if len(c.Skills) > 0 {
		table = workspace.ExtendMounts(table, workspace.SkillMounts(ws.Root, c.Skills), nil)
	}
	table = workspace.ExtendMounts(table, c.Mounts, c.NoMounts)
	shared, problems := workspace.Open(ws.Root, table, workspace.Guard{Sessions: ws.Sessions, Files: ws.secretFiles})
	for i, p := range problems { // nobody configured what is in the default table: it is served where it stands
		name := strings.TrimPrefix(p.Field, "mounts.")
		byDefault := slices.ContainsFunc(workspace.DefaultMounts(), func(m workspace.MountConfig) bool { return m.Name == name })
		if byDefault && !p.Range.Start.Known() && (name != workspace.SkillsMount || len(c.Skills) == 0) {
			problems[i].File, problems[i].Field = name, ""
		}
	}
	return shared, problems.In(configFile)
}

// mountedFile reads a file of the workspace's mounts.
func mountedFile(open func() (*Workspace, error), name string) ([]byte, error) {
	ws, err := open()
	if err != nil {
		return nil, err
	}
	shared, _ := openMounts(ws)
	defer shared.Close()
	return shared.ReadFile(name)
}

// wiring is what an arrival needs beyond the workspace.
type wiring struct {
	store    session.Store
	sink     event.Sink
	options  *arrivalOptions
	planOnly bool // no model is called
}

// openRuntime puts a runtime together for m's workspace. With planOnly it has
// no model.
func openRuntime(ws *Workspace, m *spec.Machine, w wiring) (runtime.API, error) {
	if !w.planOnly {
		if err := runnable(ws.Config, m); err != nil {
			return nil, err
		}
	}
	opts, err := runtimeTemplate(ws)
	if err != nil {
		return nil, err
	}
	o := w.options
	opts.Store, opts.Events, opts.Clock = w.store, w.sink, o.clock()
	opts.ModelOverride, opts.Ephemeral = o.Model, o.Ephemeral
	if !w.planOnly {
		if opts.Client, err = openClient(ws, m, o); err != nil {
			return nil, err
		}
	}
	return runtime.New(opts), nil
}

// runtimeTemplate is what every runtime of the workspace has alike: its mounts
// and what its settings say. Store, client, events and clock are the caller's,
// who may close Shared when the runtimes are done.
func runtimeTemplate(ws *Workspace) (runtime.Options, error) {
	shared, problems := openMounts(ws)
	if problems.HasErrors() {
		return runtime.Options{}, &diagnosticsError{root: ws.Root, list: problems}
	}
	s := ws.Settings
	opts := runtime.Options{
		Root: ws.FS(), Shared: shared, Prices: s.Prices, Model: s.Model.Name, RecursionLimit: s.Recursion,
		PromptCache: s.PromptCache, SystemPrompt: ws.Config.SystemPrompt, Notes: s.Model.Notes,
		ContextWindow: s.Model.ContextWindow, Version: version(),
	}
	if images := ws.Config.Images; images != nil {
		opts.ImageBytes, opts.ImageKeep = images.MaxBytes, images.Keep
	}
	for _, name := range ws.Config.EssentialTools {
		opts.EssentialTools = append(opts.EssentialTools, name.Value)
	}
	return opts, nil
}

// openClient is the model client: a cassette when one is named, else the
// endpoint, and a recorder around either with --record.
func openClient(ws *Workspace, m *spec.Machine, o *arrivalOptions) (model.Client, error) {
	client, err := answering(ws, m, o)
	if err != nil || o.Record == "" {
		return client, err
	}
	recorder, err := model.NewRecorder(client, o.deps.absolute(o.Record), o.deps.secrets.list()...)
	if err != nil {
		return nil, &UsageError{Message: "--record: " + err.Error(), Err: err}
	}
	return recorder, nil
}

func answering(ws *Workspace, m *spec.Machine, o *arrivalOptions) (model.Client, error) {
	if file := ws.Settings.Cassette; file != "" {
		return openCassette(o.deps, file, o.cassette != "")
	}
	if err := endpointSet(ws, m, o.Model); err != nil {
		return nil, err
	}
	return openEndpoint(ws, nil)
}

// openEndpoint is the client of the configured endpoint; adjust, when not nil,
// has the last word on its options.
func openEndpoint(ws *Workspace, adjust func(*model.Options)) (model.Client, error) {
	c := ws.Settings.Model
	opts := model.Options{
		BaseURL: c.BaseURL, APIKey: ws.Settings.APIKey, Model: c.Name, Temperature: c.Temperature, MaxTokens: c.MaxTokens,
		Streaming: *c.Streaming, Timeout: c.Timeout, MaxRetries: retries(c.MaxRetries), ToolCallContent: c.ToolCallContent,
		Roles: map[model.Role]model.RoleOptions{},
	}
	for role, r := range ws.Config.Models {
		opts.Roles[role] = model.RoleOptions{
			BaseURL: r.BaseURL, APIKey: ws.lookup(roleKeys[role]), Model: r.Name, Temperature: r.Temperature, MaxTokens: r.MaxTokens,
			Streaming: r.Streaming, Timeout: r.Timeout, MaxRetries: retries(r.MaxRetries), ToolCallContent: r.ToolCallContent,
		}
	}
	if adjust != nil {
		adjust(&opts)
	}
	if err := opts.Check(); err != nil {
		return nil, err
	}
	return model.NewOpenAI(opts), nil
}

var roleKeys = map[model.Role]string{model.RoleGrader: "ARCHMAX_GRADER_API_KEY", model.RoleJudge: "ARCHMAX_JUDGE_API_KEY"}

// retries maps max_retries to model.Options, where 0 means the default and a
// negative number none.
func retries(n *int) int {
	switch {
	case n == nil:
		return 0
	case *n == 0:
		return -1
	}
	return *n
}

// openCassette reads a cassette. A missing file that a flag names is a usage
// error, like any file of the command line.
func openCassette(d *deps, file string, byFlag bool) (model.Client, error) {
	src, err := readFile(d.ctx, file, maxCassette)
	switch {
	case d.ctx.Err() != nil:
		return nil, context.Cause(d.ctx)
	case err != nil && byFlag:
		return nil, &UsageError{Message: fmt.Sprintf("--cassette: cannot read the file %s: %s", d.short(file), cause(err)), Err: err}
	case err != nil:
		return nil, &failure{message: fmt.Sprintf("ARCHMAX_CASSETTE: cannot read the file %s: %s", d.short(file), cause(err)), hint: "correct or unset it", err: err}
	}
	cassette, problems := model.LoadCassette(d.short(file), src)
	if problems.HasErrors() {
		return nil, &diagnosticsError{root: d.dir, list: problems}
	}
	return model.NewReplay(cassette), nil
}

// requestsOf are a session's model requests as they were sent, rebuilt from its
// journal with the workspace's wire settings.
func requestsOf(ctx context.Context, ws *Workspace, id string) (iter.Seq2[runtime.SentRequest, error], error) {
	store, err := openStore(ws)
	if err != nil {
		return nil, err
	}
	rt := runtime.New(runtime.Options{Root: ws.FS(), Store: store, Notes: ws.Settings.Model.Notes})
	return rt.Requests(ctx, id, ws.Settings.Model.ToolCallContent), nil
}

// storedOutcome is the outcome of a settled arrival that carried the key, nil
// when there is none.
func storedOutcome(ctx context.Context, store session.Store, id, key string) (*runtime.Outcome, error) {
	return runtime.New(runtime.Options{Store: store}).Stored(ctx, id, key)
}

// workflowOf is the workflow that a session belongs to, from its first record.
func workflowOf(ctx context.Context, store session.Store, id string) (string, error) {
	for rec, err := range store.Records(ctx, id, 1) {
		if err != nil {
			return "", err
		}
		if created, ok := rec.Body.(*session.Created); ok {
			return created.Workflow, nil
		}
		break
	}
	return "", session.NotFoundError{ID: id}
}

// filesOf are a session's files with their sizes, without the runtime's own.
func filesOf(ctx context.Context, store session.Store, id string) ([]render.FileSize, error) {
	files, err := store.Files(ctx, id)
	if err != nil {
		return nil, err
	}
	var list []render.FileSize
	err = fs.WalkDir(files, ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // removed while we looked
		case err != nil:
			return err
		case e.IsDir() && name == "checkpoints":
			return fs.SkipDir
		case e.IsDir():
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return nil // removed while we looked
		}
		list = append(list, render.FileSize{Path: filepath.ToSlash(name), Size: info.Size()})
		return nil
	})
	return list, err
}
