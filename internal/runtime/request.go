package runtime

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/archmax-ai/archmax/internal/event"
	"github.com/archmax-ai/archmax/internal/governance"
	"github.com/archmax-ai/archmax/internal/model"
	"github.com/archmax-ai/archmax/internal/prompt"
	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/spec"
	"github.com/archmax-ai/archmax/internal/workspace"
)

// NoteTool is the synthetic tool under which a runtime note reaches a model.
const NoteTool = "archmax_note"

// transcript is the session's messages as model messages, each converted once:
// the client keeps the encoded bytes with the message.
type transcript struct {
	notes     string // tool or user
	messages  []*model.Message
	image     func(path string) *model.Message // nil: images are off
	starts    []int                            // session message -> index of its first model message
	summary   *model.Message
	summaryOf *session.Compacted // what summary was written for
}

// extend converts what the session has added. Every call of a converted message
// is settled: the loop answers a batch before it asks again.
func (tr *transcript) extend(messages []*session.Message) {
	for i := len(tr.starts); i < len(messages); i++ {
		tr.starts = append(tr.starts, len(tr.messages))
		tr.messages = append(tr.messages, convert(messages[i], i, tr.notes)...)
		for _, c := range messages[i].Calls {
			if path := c.Result.Image; path != "" && tr.image != nil {
				tr.messages = append(tr.messages, tr.image(path))
			}
		}
	}
}

func convert(m *session.Message, index int, notes string) []*model.Message {
	switch m.Role {
	case "user":
		return []*model.Message{{Role: "user", Content: m.Text}}
	case "note":
		if m.Note == "opening" {
			return []*model.Message{{Role: "user", Content: m.Text}}
		}
		if notes == "user" {
			return []*model.Message{{Role: "user", Content: fmt.Sprintf("<runtime-note kind=%q>\n%s\n</runtime-note>", m.Note, m.Text)}}
		}
		id := mintedID('n', index+1)
		return []*model.Message{
			{Role: "assistant", Calls: []model.Call{{ID: id, Name: NoteTool, Args: fmt.Sprintf(`{"kind":%q}`, m.Note)}}},
			{Role: "tool", CallID: id, Content: m.Text},
		}
	}
	out := []*model.Message{{Role: "assistant", Content: m.Text, Reasoning: m.Reasoning}}
	for _, c := range m.Calls {
		out[0].Calls = append(out[0].Calls, model.Call{ID: c.ID, Name: c.Name, Args: c.Args})
		out = append(out, &model.Message{Role: "tool", CallID: c.ID, Content: c.Result.Text})
	}
	return out
}

// imageMessage is the user part that carries an image which the agent read. The
// bytes are in no journal: they are read again for each process.
func (t *turn) imageMessage(path string) *model.Message {
	mediaType, content, err := t.ws.Image(path, t.rt.opts.ImageBytes)
	if err != nil {
		return &model.Message{Role: "user", Content: fmt.Sprintf("[image] `%s` can no longer be shown.", path)}
	}
	return &model.Message{Role: "user", Content: fmt.Sprintf("[image] `%s`:", path), Images: []model.Image{{MediaType: mediaType, Data: content}}}
}

// newestImages leaves out all but the newest keep images.
func newestImages(messages []*model.Message, keep int) []*model.Message {
	isImage := func(m *model.Message) bool { return len(m.Images) > 0 }
	extra := -keep
	for _, m := range messages {
		if isImage(m) {
			extra++
		}
	}
	if keep <= 0 || extra <= 0 {
		return messages
	}
	return slices.DeleteFunc(slices.Clone(messages), func(m *model.Message) bool {
		if !isImage(m) || extra == 0 {
			return false
		}
		extra--
		return true
	})
}

// promptCache keeps what stays the same over the calls of an arrival.
type promptCache struct {
	static    string
	hasStatic bool
	block     string
	blockFor  string // what block was written for
	tools     map[string][]*model.Tool
	stored    map[string]bool
}

// request puts one model call together, and stores its prompt text for
// `sessions log --requests` under the key it returns.
func (t *turn) request(state *spec.State, say session.SayDue) (*model.Request, string) {
	s := t.s()
	t.wire.notes = t.rt.opts.Notes
	if t.rt.opts.ImageBytes > 0 {
		t.wire.image = t.imageMessage
	}
	t.wire.extend(s.Messages)
	req := &model.Request{
		Role: model.RoleAgent, State: state.Slug, Model: t.modelOf(state),
		Static: t.static(), Volatile: t.block(state, say),
		Messages: newestImages(t.compacted(), t.rt.opts.ImageKeep), Tools: t.toolsOf(state),
		Cache: t.cacheOf(), Position: s.Cassette[string(model.RoleAgent)], Optional: say != "",
	}
	return req, t.storePrompt(req)
}

func (t *turn) modelOf(state *spec.State) string {
	for _, id := range []string{t.rt.opts.ModelOverride, state.Model, t.m.Settings.Model} {
		if id != "" {
			return id
		}
	}
	return t.rt.opts.Model
}

func (t *turn) cacheOf() *model.Cache {
	pc := t.m.Settings.PromptCache
	switch {
	case pc == nil:
		return t.rt.opts.PromptCache
	case !pc.Enabled:
		return nil
	}
	return &model.Cache{TTL: pc.TTL}
}

// toolsOf is the state's tool list: one order and one text per state. A human
// state offers none of its own, but the history may hold calls, and providers
// refuse tool history without definitions: it gets the control tools.
func (t *turn) toolsOf(state *spec.State) []*model.Tool {
	if tools, ok := t.prompts.tools[state.Slug]; ok {
		return tools
	}
	var tools []*model.Tool
	var names []string
	if t.m.State(state.Slug) != nil {
		names = t.disclosed(state)
	}
	if len(names) == 0 {
		for _, c := range controls {
			names = append(names, c.name)
		}
	}
	for _, n := range names {
		tools = append(tools, t.rt.tools.definition(n))
	}
	if t.prompts.tools == nil {
		t.prompts.tools = map[string][]*model.Tool{}
	}
	t.prompts.tools[state.Slug] = tools
	t.transient(event.PromptShaping{Cache: cacheWord(t.cacheOf()), Withheld: t.withheld(names)}, "debug")
	return tools
}

func cacheWord(c *model.Cache) string {
	switch {
	case c == nil:
		return "off"
	case c.TTL == "":
		return "on"
	}
	return c.TTL
}

// withheld is the registered tools that are not offered.
func (t *turn) withheld(offered []string) []string {
	out := []string{}
	for _, info := range t.rt.tools.set.All() {
		if t.rt.tools.definition(info.Name) != nil && !slices.Contains(offered, info.Name) {
			out = append(out, info.Name)
		}
	}
	return out
}

// static is the static prefix, read once an arrival.
func (t *turn) static() string {
	if t.prompts.hasStatic {
		return t.prompts.static
	}
	in := prompt.StaticInput{
		House: t.rt.opts.SystemPrompt, Title: t.m.Title, Instructions: t.m.Instructions, Prose: t.m.Prose,
	}
	if sh := t.rt.opts.Shared; sh != nil {
		in.Agents, in.Platform = served(sh, "AGENTS.md"), served(sh, ".platform/system/GRAPH_STATE.md")
		for _, m := range sh.Served() {
			if !m.Governed {
				in.Mounts = append(in.Mounts, mountOf(m, !m.ReadOnly))
			}
		}
	}
	t.prompts.static, t.prompts.hasStatic = prompt.Static(in), true
	return t.prompts.static
}

// served is the text of a mounted file, "" when the workspace serves none.
func served(sh *workspace.Shared, path string) string {
	text, err := sh.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(text)
}

func mountOf(m governance.Mount, writable bool) prompt.Mount {
	name := m.Name
	if !m.File {
		name += "/"
	}
	return prompt.Mount{Name: name, Writable: writable, BrowseOnly: !m.Searchable}
}

// block is the volatile block. It is a function of what the fold recorded when
// the block last changed, so a recovered turn writes the same bytes.
func (t *turn) block(state *spec.State, say session.SayDue) string {
	s := t.s()
	stamped := fmt.Sprint(state.Slug, say, s.Block.At.UnixNano())
	if t.prompts.blockFor == stamped {
		return t.prompts.block
	}
	in := prompt.VolatileInput{
		State: state.Slug, Parked: prompt.Parked(say), Variables: s.Block.Variables, Now: t.now(s.Block.At),
	}
	if say == "" {
		t.describe(&in, state)
	}
	t.prompts.block, t.prompts.blockFor = prompt.Volatile(in), stamped
	return t.prompts.block
}

func (t *turn) describe(in *prompt.VolatileInput, state *spec.State) {
	t.env.Variables = t.values()
	in.Instructions = state.Instructions
	in.AskTitle = t.s().Parent == "" && !slices.Contains(in.Variables, "title")
	for _, h := range state.Before {
		in.Hooks = append(in.Hooks, "before: "+hookKind(h))
	}
	for _, h := range state.After {
		in.Hooks = append(in.Hooks, "after: "+hookKind(h))
	}
	for _, e := range state.Transitions {
		target := t.m.State(e.To)
		in.Transitions = append(in.Transitions, prompt.Transition{
			To: e.To, Type: string(e.Type), Description: e.Description,
			Human: target.Kind == spec.Human, Terminal: target.Terminal(),
		})
	}
	enabled := governance.EnabledSkills(t.m, state.Slug, &t.env)
	var loaded []string
	if sh := t.rt.opts.Shared; sh != nil {
		for _, sk := range sh.Skills() {
			if slices.Contains(enabled, sk.Slug) {
				in.Skills = append(in.Skills, prompt.Skill{Slug: sk.Slug, Description: sk.Description, Path: sk.Path})
				loaded = append(loaded, sk.Slug)
			}
		}
	}
	for _, g := range governance.MountAccess(t.m, state.Slug, &t.env) {
		if g.Mount.Governed {
			in.Mounts = append(in.Mounts, mountOf(g.Mount, g.Access == governance.AccessReadWrite))
		}
	}
	in.Constraints = constraints(t.m, state)
	if trigger, _ := t.m.Trigger(t.s().Contract); trigger != nil {
		in.Requires, in.Returns = entriesOf(trigger.Requires), entriesOf(trigger.Returns)
	}
	if len(loaded) > 0 {
		t.transient(event.SkillsLoaded{Slugs: loaded}, "debug")
	}
}

func hookKind(h *spec.Hook) string {
	switch {
	case h.Script != "":
		return "script"
	case h.Rubric != nil:
		return "rubric"
	}
	return h.Kind
}

func entriesOf(entries []*spec.Entry) []prompt.SignatureEntry {
	out := make([]prompt.SignatureEntry, len(entries))
	for i, e := range entries {
		out[i] = prompt.SignatureEntry{Name: e.Name, Type: e.Type, Description: e.Description}
	}
	return out
}

// constraints words the argument constraints that the state's own entries, or
// for tools it does not mention the root's, put on calls.
func constraints(m *spec.Machine, state *spec.State) []prompt.Constraint {
	var out []prompt.Constraint
	word := func(entries []*spec.ToolEntry, verb string, skip func(string) bool) {
		for _, e := range entries {
			if !e.Constrained() || skip(e.Tool) {
				continue
			}
			var parts []string
			for _, g := range e.Args {
				parts = append(parts, fmt.Sprintf("%s %s", g.Name, globsOf(g.Globs)))
			}
			if len(e.Paths) > 0 {
				parts = append(parts, "paths "+globsOf(e.Paths))
			}
			out = append(out, prompt.Constraint{Tool: e.Tool, Text: verb + " " + strings.Join(parts, " and ")})
		}
	}
	own := func(tool string) bool {
		return slices.ContainsFunc(state.Tools.Allow, func(e *spec.ToolEntry) bool { return e.Tool == tool })
	}
	all := func(string) bool { return false }
	word(state.Tools.Allow, "allowed with", all)
	word(m.Tools.AllowAlways, "allowed with", own)
	word(state.Tools.Forbid, "refused with", all)
	word(m.Tools.ForbidAlways, "refused with", all)
	return out
}

func globsOf(globs []spec.Glob) string {
	var out []string
	for _, g := range globs {
		out = append(out, "`"+g.Text+"`")
	}
	return strings.Join(out, " or ")
}

// storedPrompt is what `sessions log --requests` needs beside the journal.
type storedPrompt struct {
	Static   string       `json:"static"`
	Volatile string       `json:"volatile"`
	Tools    []storedTool `json:"tools"`
}

type storedTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

// storePrompt keeps the prompt text of a request, content-addressed, so that
// the request can be shown later as it was sent. It is for people only: a
// failure to write it is a warning event.
func (t *turn) storePrompt(req *model.Request) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d %s%d %s", len(req.Static), req.Static, len(req.Volatile), req.Volatile)
	for _, tool := range req.Tools {
		fmt.Fprintf(h, "%s %s %s ", tool.Name, tool.Description, tool.Schema)
	}
	key := hex.EncodeToString(h.Sum(nil))[:16]
	if t.prompts.stored[key] {
		return key
	}
	if t.prompts.stored == nil {
		t.prompts.stored = map[string]bool{}
	}
	t.prompts.stored[key] = true
	p := storedPrompt{Static: req.Static, Volatile: req.Volatile, Tools: make([]storedTool, len(req.Tools))}
	for i, tool := range req.Tools {
		p.Tools[i] = storedTool{Name: tool.Name, Description: tool.Description, Schema: tool.Schema}
	}
	raw, err := session.Encode(p)
	if err == nil {
		err = t.w.KeepPrompt(key, append(raw, '\n'))
	}
	if err != nil {
		t.transient(event.Warning{Scope: "prompts", Message: "the prompt could not be kept for `sessions log --requests`: " + err.Error()}, "warn")
	}
	return key
}
