package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/governance"
)

// MountConfig is one row of the mount table as configured. NewMount gives the
// defaults.
type MountConfig struct {
	Name       string // slashes at the ends are stripped: "skills", "catalogs/eu", "AGENTS.md"
	Path       string // of a directory or a file, relative to the root or absolute
	ReadOnly   bool
	Governed   bool
	Searchable bool // false: browse only; of no consequence for a file

	// Optional: nothing is wrong when the path does not exist. The row stands
	// then, read-only, with nothing behind it.
	Optional bool
	// Range is the place of the mount in archmax.yaml, when it is from there.
	Range diag.Range
}

// NewMount is a mount with the defaults of governance.md: read-only,
// ungoverned, searchable.
func NewMount(name, path string) MountConfig {
	return MountConfig{Name: name, Path: path, ReadOnly: true, Searchable: true}
}

// The default table's names.
const (
	SkillsMount   = "skills"
	PlatformMount = ".platform"
	AgentsMount   = "AGENTS.md"
)

// DefaultMounts is the table of a workspace that configures none: skills/,
// .platform/ and AGENTS.md, each where it exists.
func DefaultMounts() []MountConfig {
	var table []MountConfig
	for _, name := range []string{SkillsMount, PlatformMount, AgentsMount} {
		m := NewMount(name, name)
		m.Optional = true
		table = append(table, m)
	}
	return table
}

// ExtendMounts puts a workspace's own mounts over a table: one of the same name
// replaces the table's, and the removed names go (`mounts:` in archmax.yaml,
// where null removes).
func ExtendMounts(table, own []MountConfig, removed []string) []MountConfig {
	gone := map[string]bool{}
	for _, name := range removed {
		gone[mountName(name)] = true
	}
	for _, m := range own {
		gone[mountName(m.Name)] = true
	}
	table = slices.DeleteFunc(slices.Clone(table), func(m MountConfig) bool { return gone[mountName(m.Name)] })
	return append(table, own...)
}

func mountName(name string) string { return strings.Trim(name, "/") }

// Guard names what no mount may show, beside the root's own workflows/,
// archmax.yaml and .env: the sessions directory, and further files such as the
// .env of the current directory.
type Guard struct {
	Sessions string
	Files    []string
}

// Shared is what all sessions of one workspace share: its mounts. It is safe
// for concurrent use.
type Shared struct {
	mounts []*mount
	table  []governance.Mount // parallel to mounts, sorted by name
	locks  locks
	bare   *Workspace // the mounts seen without a session
}

// mount is an open mount. A file's mount holds the file's folder and its name
// there; links are refused then, so nothing else of the folder is served.
type mount struct {
	governance.Mount
	files *tree  // nil: the row stands, and nothing is behind it
	base  string // of a file; "" for a directory
}

// absent is a row of the default table whose path does not exist. Its rules
// hold all the same: the name is the workspace's, and read-only.
func absent(config MountConfig) *mount {
	return &mount{Mount: governance.Mount{
		Name: config.Name, ReadOnly: true, Governed: config.Governed, Searchable: config.Searchable, File: config.Name == AgentsMount,
	}}
}

// Open opens one handle per mount. Problems with mounts are errors of the
// configuration: mount-invalid, mount-missing, mount-collision and
// authoring-exposed; a mount with one is not served. Shared is never nil.
func Open(root string, mounts []MountConfig, guard Guard) (*Shared, diag.List) {
	s := &Shared{}
	s.bare = s.Session(noFiles{})
	exposure := newExposure(root, guard)
	var problems diag.List
	for _, config := range mounts {
		config.Name = mountName(config.Name)
		code, hint, err := s.add(root, config, exposure)
		if err != nil {
			problems = append(problems, diag.Diagnostic{
				Severity: diag.Error,
				Code:     code,
				Message:  err.Error(),
				Range:    config.Range,
				Field:    "mounts." + config.Name,
				Hint:     hint,
			})
		}
	}
	slices.SortFunc(s.mounts, func(a, b *mount) int { return strings.Compare(a.Name, b.Name) })
	s.table = nil
	for _, m := range s.mounts {
		s.table = append(s.table, m.Mount)
	}
	return s, problems
}

// The codes of problems with mounts and skills.
const (
	codeMountInvalid     = "mount-invalid"
	codeMountMissing     = "mount-missing"
	codeMountCollision   = "mount-collision"
	codeAuthoringExposed = "authoring-exposed"
	codeSkillInvalid     = "skill-invalid"
	codeSkillName        = "skill-name-mismatch"
)

func (s *Shared) add(root string, config MountConfig, exposure exposure) (code, hint string, err error) {
	if code, hint, err := s.checkName(config.Name); err != nil {
		return code, hint, err
	}
	if config.Path == "" || strings.ContainsRune(config.Path, 0) {
		return codeMountInvalid, "give the directory or file to serve, relative to the workspace",
			fmt.Errorf("mount %q has no usable path", config.Name)
	}
	host := filepath.FromSlash(config.Path)
	if !filepath.IsAbs(host) {
		host = filepath.Join(root, host)
	}
	actual, err := filepath.EvalSymlinks(host)
	if errors.Is(err, fs.ErrNotExist) {
		if _, linked := os.Lstat(host); config.Optional && linked != nil {
			m := absent(config)
			s.mounts, s.table = append(s.mounts, m), append(s.table, m.Mount)
			return "", "", nil
		}
		return codeMountMissing, "create it, or remove the mount",
			fmt.Errorf("mount %q: its path %q does not exist", config.Name, config.Path)
	}
	if err == nil {
		actual, err = filepath.Abs(actual)
	}
	if err != nil {
		return codeMountInvalid, "check its permissions and links", fmt.Errorf("mount %q: its path %q cannot be read", config.Name, config.Path)
	}
	if what := exposure.shows(config.Path, actual); what != "" {
		return codeAuthoringExposed, "serve a directory that holds only what sessions may see",
			fmt.Errorf("mount %q: its path %q would show sessions %s", config.Name, config.Path, what)
	}
	m, err := openMount(config, actual)
	if err != nil {
		return codeMountInvalid, "a mount serves a directory or a regular file that can be read",
			fmt.Errorf("mount %q: its path %q cannot be opened", config.Name, config.Path)
	}
	if m.File {
		for _, other := range s.table {
			if under(other.Name, m.Name) {
				_ = m.files.root.Close()
				return codeMountCollision, "give each mount its own name",
					fmt.Errorf("mount %q is a file, but the mount %q is below it", m.Name, other.Name)
			}
		}
	}
	s.mounts = append(s.mounts, m)
	s.table = append(s.table, m.Mount)
	return "", "", nil
}

// checkName refuses a name that is no path, or that would serve where something
// else is: a session area or workflows/ (the first segment is reserved), or a
// mount before it.
func (s *Shared) checkName(name string) (code, hint string, err error) {
	canonical, err := governance.Canonical(name)
	if err != nil || canonical != name || canonical == governance.Root {
		return codeMountInvalid, "name it like the path it is served at: reference, catalogs/eu", fmt.Errorf("%q is no mount name", name)
	}
	reserved := []governance.Mount{{Name: scratchpad}}
	zone := governance.ZoneOf(name, reserved)
	if zone.Mount != nil || zone.Kind != governance.ZoneSession {
		first, _, _ := strings.Cut(name, "/")
		return codeMountCollision, "choose a name outside the session's own areas and workflows/",
			fmt.Errorf("mount %q: %s/ is reserved", name, first)
	}
	if neverServed(name) {
		return codeAuthoringExposed, "choose another name", fmt.Errorf("mount %q: .git and .env* are never served", name)
	}
	for _, other := range s.table {
		above := governance.ZoneOf(name, []governance.Mount{other})
		below := governance.ZoneOf(other.Name, []governance.Mount{{Name: name}})
		switch {
		case above.Mount == nil && below.Mount == nil:
		case above.Mount != nil && above.Rest == "":
			return codeMountCollision, "give each mount its own name", fmt.Errorf("mount %q: another mount has the name %q", name, other.Name)
		case above.Alias, below.Alias, above.Mount != nil && other.File:
			return codeMountCollision, "give each mount its own name", fmt.Errorf("mount %q does not fit beside the mount %q", name, other.Name)
		}
	}
	return "", "", nil
}

// neverServed reports whether a path has a segment named .git or .env*.
func neverServed(name string) bool {
	return governance.ZoneOf("m/"+name, []governance.Mount{{Name: "m"}}).Hidden
}

func openMount(config MountConfig, actual string) (*mount, error) {
	info, err := os.Stat(actual)
	if err != nil {
		return nil, err
	}
	m := &mount{Mount: governance.Mount{
		Name:       config.Name,
		ReadOnly:   config.ReadOnly,
		Governed:   config.Governed,
		Searchable: config.Searchable,
	}}
	switch {
	case info.IsDir():
	case info.Mode().IsRegular():
		m.File, m.base, m.Searchable = true, filepath.Base(actual), true
		actual = filepath.Dir(actual)
	default:
		return nil, errors.New("neither a directory nor a regular file")
	}
	m.files, err = openTree(actual)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Close closes the handles of the mounts.
func (s *Shared) Close() error {
	var errs []error
	for _, m := range s.mounts {
		if m.files != nil {
			errs = append(errs, m.files.root.Close())
		}
	}
	return errors.Join(errs...)
}

// Served is the mounts that have something behind them, for the prompt.
func (s *Shared) Served() []governance.Mount {
	var served []governance.Mount
	for _, m := range s.mounts {
		if m.files != nil {
			served = append(served, m.Mount)
		}
	}
	return served
}

// Table is the resolved mount table, for the kernel, sorted by name; the rows of
// the default table are in it whether or not their paths exist. The caller does
// not change it.
func (s *Shared) Table() []governance.Mount { return s.table }

// ReadFile returns a mounted file, for the prompt (AGENTS.md,
// .platform/system/GRAPH_STATE.md). What does not exist is an fs.ErrNotExist.
func (s *Shared) ReadFile(mountPath string) ([]byte, error) { return s.bare.ReadFile(mountPath) }

// under reports whether name is dir or below it; both are canonical.
func under(name, dir string) bool {
	return dir == governance.Root || name == dir || strings.HasPrefix(name, dir+"/")
}

// join joins canonical paths.
func join(dir, name string) string { return path.Join(dir, name) }
