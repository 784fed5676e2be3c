package workspace

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/archmax-ai/archmax/internal/diag"
)

// memory is a session's folder that is kept in memory. With anyCase it takes
// names for one that differ in case only, as macOS and Windows do.
type memory struct {
	mu      sync.RWMutex
	files   fstest.MapFS
	anyCase bool
}

func newMemory() *memory { return &memory{files: fstest.MapFS{}} }

// key finds the stored spelling of a name.
func (m *memory) key(name string) string {
	if !m.anyCase {
		return name
	}
	for k := range m.files {
		for at := k; at != "."; at = filepath.Dir(at) {
			if strings.EqualFold(at, name) {
				return at
			}
		}
	}
	return name
}

func (m *memory) Open(name string) (fs.File, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.files.Open(m.key(name))
}

func (m *memory) Stat(name string) (fs.FileInfo, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.files.Stat(m.key(name))
}

func (m *memory) ReadDir(name string) ([]fs.DirEntry, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.files.ReadDir(m.key(name))
}

func (m *memory) Write(name string, content []byte, exclusive bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	name = m.key(name)
	if _, there := m.files[name]; there && exclusive {
		return fs.ErrExist
	}
	m.files[name] = &fstest.MapFile{Data: append([]byte(nil), content...), Mode: 0o600}
	return nil
}

func (m *memory) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	name = m.key(name)
	if _, there := m.files[name]; !there {
		return fs.ErrNotExist
	}
	delete(m.files, name)
	return nil
}

// world is a workspace on disk with a session to look at it from.
type world struct {
	t       *testing.T
	root    string
	shared  *Shared
	files   Files
	w       *Workspace
	visible func(string) bool
}

// newWorld writes the files (path to content) under a new root, opens the
// mounts, and looks from a session kept in files.
func newWorld(t *testing.T, authored map[string]string, mounts []MountConfig, files Files) *world {
	t.Helper()
	root := t.TempDir()
	writeAll(t, root, authored)
	shared, problems := Open(root, mounts, Guard{})
	if len(problems) > 0 {
		t.Fatalf("mounts: %v", problems.Err())
	}
	t.Cleanup(func() { _ = shared.Close() })
	return &world{t: t, root: root, shared: shared, files: files, w: shared.Session(files)}
}

func writeAll(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		host := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(host), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(host, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// onDisk is a session's folder in a directory of its own.
func onDisk(t *testing.T) Files {
	t.Helper()
	files, err := openTree(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = files.root.Close() })
	return files
}

// everywhere runs a test with a session on disk and one in memory.
func everywhere(t *testing.T, authored map[string]string, mounts []MountConfig, test func(t *testing.T, s *world)) {
	t.Run("on disk", func(t *testing.T) { test(t, newWorld(t, authored, mounts, onDisk(t))) })
	t.Run("in memory", func(t *testing.T) { test(t, newWorld(t, authored, mounts, newMemory())) })
}

func toolNamed(t *testing.T, name string) Tool {
	t.Helper()
	for _, tool := range Tools() {
		if tool.Name == name {
			return tool
		}
	}
	t.Fatalf("no tool %s", name)
	return Tool{}
}

// call runs a tool with arguments in JSON, as a model sends them.
func (s *world) call(tool, args string) (Result, error) {
	s.t.Helper()
	return s.callAs(tool, args, Call{})
}

func (s *world) callAs(tool, args string, call Call) (Result, error) {
	s.t.Helper()
	if err := json.Unmarshal([]byte(args), &call.Args); err != nil {
		s.t.Fatalf("%s: %v", args, err)
	}
	call.Visible = s.visible
	result, err := toolNamed(s.t, tool).Run(context.Background(), s.w, call)
	if err != nil && strings.Contains(err.Error(), s.root) {
		s.t.Errorf("%s %s names a path of the host: %v", tool, args, err)
	}
	if strings.Contains(result.Text, s.root) {
		s.t.Errorf("%s %s names a path of the host: %s", tool, args, result.Text)
	}
	return result, err
}

// answers checks the text of a successful call.
func (s *world) answers(tool, args, want string) {
	s.t.Helper()
	got, err := s.call(tool, args)
	if err != nil {
		s.t.Errorf("%s %s: %v", tool, args, err)
	} else if got.Text != want {
		s.t.Errorf("%s %s:\n got %q\nwant %q", tool, args, got.Text, want)
	}
}

// refuses checks that a call fails with one line that holds the words.
func (s *world) refuses(tool, args string, words ...string) {
	s.t.Helper()
	got, err := s.call(tool, args)
	if err == nil {
		s.t.Errorf("%s %s was not refused but answered %q", tool, args, got.Text)
		return
	}
	if strings.Contains(err.Error(), "\n") {
		s.t.Errorf("%s %s: more than a line: %q", tool, args, err)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			s.t.Errorf("%s %s: %q does not say %q", tool, args, err, word)
		}
	}
}

// put writes a session file past the tools.
func (s *world) put(name, content string) {
	s.t.Helper()
	if err := s.files.Write(name, []byte(content), false); err != nil {
		s.t.Fatal(err)
	}
}

// holds checks a session file past the tools.
func (s *world) holds(name, want string) {
	s.t.Helper()
	got, err := fs.ReadFile(s.files, name)
	if err != nil {
		s.t.Errorf("%s: %v", name, err)
	} else if string(got) != want {
		s.t.Errorf("%s holds %q, want %q", name, got, want)
	}
}

func (s *world) lacks(name string) {
	s.t.Helper()
	if _, err := s.files.Stat(name); err == nil {
		s.t.Errorf("%s is there", name)
	}
}

func codes(list diag.List) string {
	var all []string
	for _, d := range list {
		all = append(all, string(d.Code))
	}
	return strings.Join(all, " ")
}

// mountAt is a mount with options.
func mountAt(name, path string, options ...func(*MountConfig)) MountConfig {
	m := NewMount(name, path)
	for _, o := range options {
		o(&m)
	}
	return m
}

func writable(m *MountConfig)     { m.ReadOnly = false }
func unsearchable(m *MountConfig) { m.Searchable = false }
func governed(m *MountConfig)     { m.Governed = true }
func optional(m *MountConfig)     { m.Optional = true }
