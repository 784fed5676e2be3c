package governance

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Root is the canonical path of the workspace's root.
const Root = "."

// PathError says why a path names no place in the workspace. Problem is worded
// for the model and follows the path in a sentence.
type PathError struct {
	Path    string
	Problem string
}

// Error is one line that quotes the path.
func (e *PathError) Error() string { return fmt.Sprintf("%s %s", quote(e.Path), e.Problem) }

// Canonical puts a path into the one form that rules compare: no leading slash,
// no "." and no empty segment, ".." applied; the root is ".". It refuses, with
// a *PathError, a path that leaves the root, one that holds a backslash or a
// NUL, so that a rule means the same on every system, and one that is not
// UTF-8, which no glob could tell apart from another (governance.md, "Paths").
func Canonical(path string) (string, error) {
	clean := true // already canonical: the common case, answered without allocating
	start := 0
	for i := 0; i <= len(path); i++ {
		if i < len(path) {
			switch path[i] {
			case '\\':
				return "", &PathError{path, "holds a backslash; use /"}
			case 0:
				return "", &PathError{path, "holds a NUL character; leave it out"}
			}
			if path[i] != '/' {
				continue
			}
		}
		switch path[start:i] {
		case "", ".", "..":
			clean = false
		}
		start = i + 1
	}
	if !utf8.ValidString(path) {
		return "", &PathError{path, "is not UTF-8 text; write the name in UTF-8"}
	}
	if clean {
		return path, nil
	}
	var kept []string
	for seg := range strings.SplitSeq(path, "/") {
		switch seg {
		case "", ".":
		case "..":
			if len(kept) == 0 {
				return "", &PathError{path, "leaves the workspace; use a path below its root"}
			}
			kept = kept[:len(kept)-1]
		default:
			kept = append(kept, seg)
		}
	}
	if len(kept) == 0 {
		return Root, nil
	}
	return strings.Join(kept, "/"), nil
}

// ZoneKind is what kind of place a path is.
type ZoneKind string

// The zones. A writable mount is in the session zone.
const (
	ZoneEscapes    ZoneKind = "escapes"
	ZoneGovernance ZoneKind = "governance-plane"
	ZoneAuthored   ZoneKind = "authored"
	ZoneInternal   ZoneKind = "runtime-internal"
	ZoneOffload    ZoneKind = "offload"
	ZoneScratchpad ZoneKind = "scratchpad"
	ZoneSession    ZoneKind = "session"
)

// areas are the fixed areas at the root. Each is compared folded, so that no
// spelling of a protected name gets past it on a system that ignores case.
var areas = []struct {
	name string
	kind ZoneKind
}{
	{"workflows", ZoneGovernance},
	{"checkpoints", ZoneInternal},
	{"artifacts", ZoneInternal},
	{"_specs", ZoneInternal},
	{"large_tool_results", ZoneOffload},
	{"conversation_history", ZoneOffload},
}

const (
	scratchpad  = "scratchpad"
	skillsMount = "skills"
)

// Zone is the place of a path.
type Zone struct {
	Kind ZoneKind
	Path string // canonical, "" when Kind is ZoneEscapes

	// Mount is the row of the mount table that serves the path, nil when the
	// session's own files do; Rest is the path below it, "" for its root.
	Mount *Mount
	Rest  string

	// Alias is set when the path's spelling equals the name of its area or mount
	// only after case folding and Unicode normalization. The session treats it
	// as the protected place it would be on a system that ignores case.
	Alias bool

	// Hidden is set for a path that no mount ever serves: a segment below the
	// mount is named `.git` or `.env*`.
	Hidden bool

	problem string // ZoneEscapes: why
}

// ZoneOf places a path by the one zone table: the longest mount name wins, a
// file mount serves its exact path. The path need not be canonical.
func ZoneOf(path string, mounts []Mount) Zone {
	canonical, err := Canonical(path)
	if err != nil {
		z := Zone{Kind: ZoneEscapes}
		if perr, ok := err.(*PathError); ok {
			z.problem = perr.Problem
		}
		return z
	}
	if canonical == Root {
		return Zone{Kind: ZoneSession, Path: Root} // in no area, and no mount is the root
	}
	for i := range areas {
		if _, exact, ok := under(canonical, areas[i].name); ok {
			return Zone{Kind: areas[i].kind, Path: canonical, Alias: !exact}
		}
	}
	z := Zone{Kind: ZoneSession, Path: canonical}
	for i := range mounts {
		m := &mounts[i]
		if z.Mount != nil && len(m.Name) <= len(z.Mount.Name) {
			continue
		}
		if rest, exact, ok := under(canonical, m.Name); ok {
			z.Mount, z.Rest, z.Alias = m, rest, !exact
		}
	}
	switch {
	case z.Mount != nil:
		z.Hidden = neverServed(z.Rest)
		if z.Mount.ReadOnly {
			z.Kind = ZoneAuthored
		}
	default:
		if _, exact, _ := under(canonical, scratchpad); exact {
			z.Kind = ZoneScratchpad
		}
	}
	return z
}

// under reports whether path is name or lies below it; exact is false when it
// does only after folding. Rest is what follows name.
func under(path, name string) (rest string, exact, ok bool) {
	if strings.HasPrefix(path, name) {
		if len(path) == len(name) {
			return "", true, true
		}
		if path[len(name)] == '/' {
			return path[len(name)+1:], true, true
		}
	}
	rest = path
	for name != "" {
		if rest == "" {
			return "", false, false
		}
		var seg, want string
		seg, rest, _ = strings.Cut(rest, "/")
		want, name, _ = strings.Cut(name, "/")
		if !sameName(seg, want) {
			return "", false, false
		}
	}
	return rest, false, true
}

// leadsTo returns a mount that lies below path: such a directory exists only
// because the mount does.
func leadsTo(path string, mounts []Mount) *Mount {
	for i := range mounts {
		rest, name := path, mounts[i].Name
		for same := true; same && name != ""; {
			var seg, want string
			seg, rest, _ = strings.Cut(rest, "/")
			want, name, _ = strings.Cut(name, "/")
			if same = sameName(seg, want); same && rest == "" && name != "" {
				return &mounts[i]
			}
		}
	}
	return nil
}

// neverServed reports whether a path below a mount has a segment named `.git`
// or `.env*`, in any spelling.
func neverServed(rest string) bool {
	for rest != "" {
		var seg string
		seg, rest, _ = strings.Cut(rest, "/")
		if sameName(seg, ".git") || isDotEnv(seg) {
			return true
		}
	}
	return false
}

func isDotEnv(seg string) bool {
	const env = ".env"
	if len(seg) >= len(env) && strings.EqualFold(seg[:len(env)], env) {
		return true
	}
	return !plain(seg) && (strings.HasPrefix(fold(seg), env) || shortName(seg, env))
}
