package governance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/archmax-ai/archmax/internal/spec"
)

// Decide says whether the action may happen. It is pure: it reads what it is
// given, keeps nothing and changes nothing, so the runtime and validate get the
// same answer to the same question. A block always has a rule and a reason.
//
// Policies are called from here, in their place of the pipeline; they must be
// pure too.
func Decide(m *spec.Machine, a Action, env *Env) Verdict {
	if env == nil {
		env = &Env{}
	}
	switch a := a.(type) {
	case Call:
		return decideCall(m, &a, env)
	case Hit:
		return decideHit(m, &a, env)
	case Transition:
		return decideTransition(m, a, env)
	case Entry:
		return decidePlace(m, a.State, RuleEntryAllowed, a.Hooks)
	case Completion:
		return decidePlace(m, a.State, RuleCompletionAllowed, a.Hooks)
	default:
		return Verdict{Rule: RuleNotAllowed, Reason: "This is no action that a session can take."}
	}
}

// rule is one row of the pipeline. It answers, with true, or passes the call to
// the next row.
type rule func(*call) (Verdict, bool)

// pipeline is the order of governance.md; the first rule that answers wins and
// the last always does.
var pipeline = [...]rule{
	governancePlane,  // 1
	skillScriptsOnly, // 2
	replyOnly,        // 3
	renamedTools,     // 4
	unknownTool,      // a name that is no tool can do nothing further
	servedPlaces,     // 5
	runtimeInternal,  // 6
	runtimeManaged,   // 7
	mounts,           // 8
	skills,           // 9
	forbiddenAlways,  // 10
	forbiddenHere,    // 11
	policies,         // 12
	openAreas,        // 13
	stateDefault,     // 14
}

func decideCall(m *spec.Machine, a *Call, env *Env) Verdict {
	c := &call{
		m: m, slug: a.State, state: m.State(a.State), env: env,
		name: a.Tool, called: a.Tool, tool: env.Tools.find(a.Tool),
		args: a.Args, origin: a.Origin, replyOnly: a.ReplyOnly,
	}
	if c.tool != nil {
		c.name = c.tool.Name
		c.locate()
	}
	return c.run()
}

func (c *call) run() Verdict {
	for _, answer := range pipeline {
		if v, ok := answer(c); ok {
			return v
		}
	}
	return Verdict{} // a block; stateDefault answers everything
}

// readFile stands in for the tool that a hit is decided as when the workspace
// registers none of that name.
var readFile = ToolInfo{Name: toolReadFile, Paths: []PathArg{{"file_path", Read, ""}}, AlwaysOn: true, ReadOnly: true}

// decideHit decides a search result as a read of its path, and then by the
// denials of the tool that found it. What that tool is granted was decided with
// its call. A block of a hit is never fatal: the hit is dropped, nothing was
// asked for.
func decideHit(m *spec.Machine, a *Hit, env *Env) Verdict {
	c := &call{
		m: m, slug: a.State, state: m.State(a.State), env: env,
		name: toolReadFile, called: toolReadFile, tool: env.Tools.find(toolReadFile),
		origin: a.Origin, hit: true,
	}
	if c.tool == nil {
		c.tool = &readFile
	}
	if len(env.Policies) > 0 {
		c.args = map[string]any{c.tool.Paths[0].Name: a.Path}
	}
	c.hitAt(a.Path)
	v := c.run()
	if v.Allow {
		if searcher := env.Tools.find(a.Tool); searcher != nil {
			c.tool, c.name, c.called = searcher, searcher.Name, a.Tool
			c.hitAt(a.Path)
			for _, answer := range [...]rule{forbiddenAlways, forbiddenHere} {
				if block, ok := answer(c); ok {
					v = block
					break
				}
			}
		}
	}
	v.Fatal = false
	return v
}

// hitAt makes path the value of every path argument.
func (c *call) hitAt(path string) {
	c.paths = c.room[:0]
	for _, arg := range c.tool.Paths {
		c.add(PathArg{Name: arg.Name, Use: Read}, path, false)
	}
}

func pass() (Verdict, bool) { return Verdict{}, false }

func allow(rule string) (Verdict, bool) { return Verdict{Allow: true, Rule: rule}, true }

// governancePlane is rule 1.
func governancePlane(c *call) (Verdict, bool) {
	for i := range c.paths {
		if at := &c.paths[i]; at.zone.Kind == ZoneGovernance {
			return c.blockPath(RuleGovernancePlane, at, "is under workflows/, which no session can reach")
		}
	}
	return pass()
}

// skillScriptsOnly is rule 2.
func skillScriptsOnly(c *call) (Verdict, bool) {
	if c.name != toolRun || c.tool == nil {
		return pass()
	}
	const instead = " It runs files inside a bundle, skills/<slug>/…, and none under scratchpad/; code of your own goes to archmax_eval."
	for i := range c.paths {
		at := &c.paths[i]
		if slug, script := bundleOf(&at.zone); slug == "" || script == "" {
			return c.block(RuleSkillOnly, at.describe()+" is in no skill bundle", c.skillsHere()+instead)
		}
	}
	if len(c.paths) == 0 {
		return c.block(RuleSkillOnly, "no script is named", c.skillsHere()+instead)
	}
	return pass()
}

// replyOnly is rule 3.
func replyOnly(c *call) (Verdict, bool) {
	if !c.replyOnly {
		return pass()
	}
	return c.block(RuleReplyOnly, "this run is parked, so it may speak and not act",
		"Answer with text alone; no tool, and no path, scratchpad/ included, is open now.")
}

// renamedTools is rule 4.
func renamedTools(c *call) (Verdict, bool) {
	switch c.called {
	case "eval":
		return c.block(RuleEval, "the tool that runs code is named archmax_eval", c.toolsHere())
	case "task":
		return c.block(RuleEval, "there are no sub-agents here", c.toolsHere())
	}
	return pass()
}

// unknownTool answers a name that resolves to nothing.
func unknownTool(c *call) (Verdict, bool) {
	if c.tool != nil {
		return pass()
	}
	return Verdict{Rule: RuleUnknownTool, Reason: fmt.Sprintf("%s is not a tool. %s", quote(c.called), c.toolsHere())}, true
}

// servedPlaces is rule 5.
func servedPlaces(c *call) (Verdict, bool) {
	for i := range c.paths {
		if at := &c.paths[i]; at.zone.Kind == ZoneEscapes {
			return c.blockPath(RuleEscapes, at, at.zone.problem)
		}
	}
	for i := range c.paths {
		at := &c.paths[i]
		if !at.use.writes() {
			continue
		}
		if at.zone.Kind == ZoneAuthored {
			return c.blockPath(RuleReadOnly, at, "is an authored file, which is served read-only")
		}
		if at.zone.Mount == nil && leadsTo(at.zone.Path, c.env.Mounts) != nil {
			return c.blockPath(RuleReadOnly, at, "is a directory of authored files, which cannot be replaced")
		}
	}
	return pass()
}

// runtimeInternal is rule 6.
func runtimeInternal(c *call) (Verdict, bool) {
	for i := range c.paths {
		if at := &c.paths[i]; at.zone.Kind == ZoneInternal {
			return c.blockPath(RuleRuntimeInternal, at, "belongs to the runtime")
		}
	}
	return pass()
}

// runtimeManaged is rule 7.
func runtimeManaged(c *call) (Verdict, bool) {
	for i := range c.paths {
		if at := &c.paths[i]; at.zone.Kind == ZoneOffload && at.use.writes() {
			return c.blockPath(RuleRuntimeManaged, at, "is kept by the runtime and may only be read")
		}
	}
	return pass()
}

// policies is rule 12.
func policies(c *call) (Verdict, bool) {
	if len(c.env.Policies) == 0 {
		return pass()
	}
	in := PolicyInput{
		Tool: c.name, Args: c.args, State: c.slug, Origin: c.origin,
		Variables: c.env.Variables, Paths: make([]string, 0, len(c.paths)),
	}
	for i := range c.paths {
		if path := c.paths[i].zone.Path; !slices.Contains(in.Paths, path) {
			in.Paths = append(in.Paths, path)
		}
	}
	for i := range c.env.Policies {
		p := &c.env.Policies[i]
		if p.Blocks == nil {
			return c.blockAny(RulePolicyPrefix+p.Name, "policy "+p.Name+" has no rule to apply, so it blocks")
		}
		switch blocks, err := p.Blocks(in); {
		case err != nil:
			return c.blockAny(RulePolicyPrefix+p.Name,
				fmt.Sprintf("policy %s could not be evaluated on this call, so it blocks: %v", p.Name, err))
		case blocks:
			return c.blockAny(RulePolicyPrefix+p.Name, fmt.Sprintf("policy %s: %s", p.Name, strings.TrimRight(p.Deny, ". ")))
		}
	}
	return pass()
}

// openAreas is rule 13: it allows, where the state has the tool at all: a grader
// has only those that read.
func openAreas(c *call) (Verdict, bool) {
	if !c.tool.AlwaysOn || len(c.paths) == 0 || c.state == nil || c.onlyReads() && !c.tool.ReadOnly {
		return pass()
	}
	verdict := RuleScratchpad
	for i := range c.paths {
		at := &c.paths[i]
		switch {
		case at.zone.Kind == ZoneScratchpad:
		case at.zone.Kind == ZoneOffload && !at.zone.Alias && at.use != Execute:
			verdict = RuleOffloadRead // a write was blocked by rule 7
		default:
			return pass()
		}
	}
	return allow(verdict)
}
