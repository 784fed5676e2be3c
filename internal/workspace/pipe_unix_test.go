//go:build unix

package workspace

import (
	"path/filepath"
	"syscall"
	"testing"
)

func TestAPipeIsNotOpenedSinceThatCouldWaitForEver(t *testing.T) {
	s := newWorld(t, map[string]string{"ref/a.md": "x"}, []MountConfig{mountAt("reference", "ref")}, newMemory())
	if err := syscall.Mkfifo(filepath.Join(s.root, "ref", "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.refuses("read_file", `{"file_path":"reference/pipe"}`, "not a regular file")
	s.answers("ls", `{"path":"reference"}`, "a.md")
	s.answers("grep", `{"pattern":"x"}`, "reference/a.md")
}
