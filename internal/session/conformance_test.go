package session_test

import (
	"testing"

	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/session/sessiontest"
)

func TestTheFileSystemStoreConforms(t *testing.T) {
	sessiontest.Run(t, func(t *testing.T) session.Store { return session.NewFSStore(t.TempDir(), nil) })
}

func TestTheMemoryStoreConforms(t *testing.T) {
	sessiontest.Run(t, func(t *testing.T) session.Store { return session.NewMemStore(nil) })
}

func TestAMountIsAFolderOfFiles(t *testing.T) {
	f, err := session.OpenFiles(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sessiontest.CheckFiles(t, f)
}

func TestFilesInMemoryAreAFolderOfFiles(t *testing.T) {
	sessiontest.CheckFiles(t, session.NewMemFiles(nil))
}
