package governance

import (
	"errors"
	"strings"
	"testing"
)

func TestCanonical(t *testing.T) {
	for _, tc := range []struct{ name, path, want string }{
		{"a canonical path stays as it is", "docs/a.md", "docs/a.md"},
		{"leading slashes are stripped", "///docs/a.md", "docs/a.md"},
		{"dot and empty segments are dropped", "./docs//./a.md/", "docs/a.md"},
		{"dot-dot is applied", "docs/../notes/x/../a.md", "notes/a.md"},
		{"dot-dot back to the root is the root", "docs/..", "."},
		{"the slash is the root", "/", "."},
		{"the empty path is the root", "", "."},
		{"the dot is the root", ".", "."},
		{"three dots are a name", ".../a", ".../a"},
		{"a dot file keeps its dot", "./.hidden", ".hidden"},
		{"spaces are kept", " a / b ", " a / b "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := Canonical(tc.path)
			if err != nil || got != tc.want {
				t.Errorf("Canonical(%q) = %q, %v; want %q", tc.path, got, err, tc.want)
			}
		})
	}
}

func TestCanonicalRefuses(t *testing.T) {
	for _, tc := range []struct{ name, path, says string }{
		{"a path above the root", "../x", "leaves the workspace"},
		{"an absolute path above the root", "/../x", "leaves the workspace"},
		{"a traversal that climbs out from inside", "scratchpad/../../x", "leaves the workspace"},
		{"a traversal that comes back in", "../workspace/x", "leaves the workspace"},
		{"a backslash", `docs\a.md`, "use /"},
		{"a backslash before a traversal", `..\..\x`, "use /"},
		{"a NUL", "docs/a\x00.md", "NUL"},
		{"what is not UTF-8", "docs/\xff", "UTF-8"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := Canonical(tc.path)
			var perr *PathError
			if !errors.As(err, &perr) || !strings.Contains(err.Error(), tc.says) || got != "" {
				t.Errorf("Canonical(%q) = %q, %v; want a PathError that says %q", tc.path, got, err, tc.says)
			}
		})
	}
}

var table = []Mount{
	{Name: "skills", ReadOnly: true, Searchable: true},
	{Name: ".platform", ReadOnly: true, Searchable: true},
	{Name: "AGENTS.md", ReadOnly: true, File: true},
	{Name: "catalogs", ReadOnly: true, Governed: true},
	{Name: "catalogs/eu", Governed: true},
	{Name: "reports/final", ReadOnly: true},
	{Name: "notes"},
}

func TestZoneOf(t *testing.T) {
	for _, tc := range []struct {
		name, path string
		kind       ZoneKind
		mount      string
		rest       string
		alias      bool
	}{
		{"workflows is the governance plane", "workflows", ZoneGovernance, "", "", false},
		{"a file in it too", "workflows/a/workflow.yaml", ZoneGovernance, "", "", false},
		{"in capitals too", "WORKFLOWS/a", ZoneGovernance, "", "", true},
		{"with a long s too", "workflow\u017f/a", ZoneGovernance, "", "", true},
		{"with a Kelvin sign too", "wor\u212aflows/a", ZoneGovernance, "", "", true},
		{"in full width too", "\uff57orkflows/a", ZoneGovernance, "", "", true},
		{"with a zero-width joiner too", "work\u200dflows/a", ZoneGovernance, "", "", true},
		{"with trailing dots too", "workflows../a", ZoneGovernance, "", "", true},
		{"with a trailing space too", "workflows /a", ZoneGovernance, "", "", true},
		{"with a data stream too", "workflows::$INDEX_ALLOCATION/a", ZoneGovernance, "", "", true},
		{"by its short name too", "WORKFL~1/a", ZoneGovernance, "", "", true},
		{"a disguised traversal into it too", "skills/../workflows/x", ZoneGovernance, "", "", false},
		{"doubled slashes too", "//workflows//a", ZoneGovernance, "", "", false},
		{"a dot in front too", "./workflows", ZoneGovernance, "", "", false},
		{"a longer name is another place", "workflows-old/a", ZoneSession, "", "", false},
		{"workflows deeper down is another place", "scratchpad/workflows/a", ZoneScratchpad, "", "", false},
		{"checkpoints is the runtime's", "checkpoints/1", ZoneInternal, "", "", false},
		{"artifacts is the runtime's", "artifacts", ZoneInternal, "", "", false},
		{"_specs is the runtime's", "_Specs/x.json", ZoneInternal, "", "", true},
		{"large_tool_results is offload", "large_tool_results/1.txt", ZoneOffload, "", "", false},
		{"conversation_history is offload", "conversation_history/1.md", ZoneOffload, "", "", false},
		{"scratchpad is scratchpad", "scratchpad", ZoneScratchpad, "", "", false},
		{"scratchpad in capitals is an ordinary session folder", "Scratchpad/a", ZoneSession, "", "", false},
		{"anything else is the session's", "drafts/a.md", ZoneSession, "", "", false},
		{"the root is the session's", "/", ZoneSession, "", "", false},
		{"a path above the root escapes", "a/../../b", ZoneEscapes, "", "", false},
		{"a read-only mount is authored", "skills/a/SKILL.md", ZoneAuthored, "skills", "a/SKILL.md", false},
		{"a mount in capitals is that mount's alias", "Skills/a/SKILL.md", ZoneAuthored, "skills", "a/SKILL.md", true},
		{"a mount's own directory is authored", "skills", ZoneAuthored, "skills", "", false},
		{"a file mount is authored", "/AGENTS.md", ZoneAuthored, "AGENTS.md", "", false},
		{"a file mount in small letters is its alias", "agents.md", ZoneAuthored, "AGENTS.md", "", true},
		{"a name that only starts like a file mount is the session's", "AGENTS.md.bak", ZoneSession, "", "", false},
		{"the longest mount wins", "catalogs/eu/a", ZoneSession, "catalogs/eu", "a", false},
		{"a disguise of the longest mount is its alias", "catalogs/EU/a", ZoneSession, "catalogs/eu", "a", true},
		{"the shorter mount serves the rest", "catalogs/us/a", ZoneAuthored, "catalogs", "us/a", false},
		{"a writable mount is in the session zone", "notes/a", ZoneSession, "notes", "a", false},
		{"beside a nested mount is the session's", "reports/draft", ZoneSession, "", "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			z := ZoneOf(tc.path, table)
			mount := ""
			if z.Mount != nil {
				mount = z.Mount.Name
			}
			if z.Kind != tc.kind || mount != tc.mount || z.Rest != tc.rest || z.Alias != tc.alias {
				t.Errorf("ZoneOf(%q) = %s mount %q rest %q alias %v; want %s %q %q %v",
					tc.path, z.Kind, mount, z.Rest, z.Alias, tc.kind, tc.mount, tc.rest, tc.alias)
			}
		})
	}
}

func TestDotFilesThatNoMountServes(t *testing.T) {
	for path, hidden := range map[string]bool{
		"skills/a/.env":            true,
		"skills/a/.env.local":      true,
		"skills/a/.envrc":          true,
		"skills/a/.ENV":            true,
		"skills/a/.\u200denv":      true,
		"skills/a/.git":            true,
		"skills/a/.git/config":     true,
		"skills/a/.GIT./config":    true,
		"skills/a/GIT~1/config":    true,
		"notes/.env":               true,
		"skills/a/.gitignore":      false,
		"skills/a/env":             false,
		"skills/a/scripts/.hidden": false,
		".platform/system/a":       false,
		"drafts/.env":              false, // the session's own file: no mount
	} {
		if z := ZoneOf(path, table); z.Hidden != hidden {
			t.Errorf("ZoneOf(%q).Hidden = %v, want %v", path, z.Hidden, hidden)
		}
	}
}

func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{
		"", "/", "a/b", "../x", "a/../../b", "./a//b/", `a\b`, "a\x00", "skills/../workflows/x", "//workflows//a",
		"Workflow\u017f", "...", "a/.../..", "\xff/..", "WORKFL~1/..",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		got, err := Canonical(path)
		zone := ZoneOf(path, table)
		if err != nil {
			if got != "" || zone.Kind != ZoneEscapes || strings.Contains(err.Error(), "\n") {
				t.Fatalf("Canonical(%q) = %q, %v in zone %s; want one line and the zone escapes", path, got, err, zone.Kind)
			}
			return
		}
		again, err := Canonical(got)
		if err != nil || again != got {
			t.Fatalf("Canonical is not idempotent: %q, %q, %q, %v", path, got, again, err)
		}
		if strings.ContainsAny(got, "\\\x00") || strings.HasPrefix(got, "/") {
			t.Fatalf("Canonical(%q) = %q is not canonical", path, got)
		}
		if got != Root {
			for seg := range strings.SplitSeq(got, "/") {
				if seg == "" || seg == "." || seg == ".." {
					t.Fatalf("Canonical(%q) = %q holds the segment %q", path, got, seg)
				}
			}
		}
		if zone.Path != got {
			t.Fatalf("ZoneOf(%q).Path = %q, want %q", path, zone.Path, got)
		}
		if folding := foldPath(got); foldPath(folding) != folding && !strings.ContainsAny(got, ":. ") {
			t.Fatalf("folding %q is not idempotent: %q, %q", got, folding, foldPath(folding))
		}
		if strings.EqualFold(got, "workflows") && zone.Kind != ZoneGovernance {
			t.Fatalf("%q is workflows in another case, in zone %s", path, zone.Kind)
		}
	})
}
