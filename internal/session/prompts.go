package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Prompt texts are content-addressed files of a session's checkpoints: the
// journal names them, and deleting the session deletes them.

func promptName(key string) (string, error) {
	if !specHash.MatchString(key) {
		return "", fmt.Errorf("%q is no key of a prompt; it is made of letters, digits, - and _", key)
	}
	return filepath.Join("prompts", key+".json"), nil
}

// KeepPrompt implements Writer.
func (w *fsWriter) KeepPrompt(key string, text []byte) error {
	name, err := promptName(key)
	if err != nil {
		return err
	}
	path := filepath.Join(w.store.checkpoints(w.id), name)
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return storeErr("write", path, err)
	}
	temp := path + ".tmp"
	if err := os.WriteFile(temp, text, 0o600); err != nil {
		return storeErr("write", path, err)
	}
	return storeErr("write", path, w.store.fs.Rename(temp, path))
}

// Prompt implements Store.
func (s *FSStore) Prompt(_ context.Context, id, key string) ([]byte, error) {
	if err := CheckID(id); err != nil {
		return nil, err
	}
	name, err := promptName(key)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(s.checkpoints(id), name)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return text, storeErr("read", path, err)
}

// KeepPrompt implements Writer.
func (w *memWriter) KeepPrompt(key string, text []byte) error {
	if _, err := promptName(key); err != nil {
		return err
	}
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	if w.session.prompts == nil {
		w.session.prompts = map[string][]byte{}
	}
	w.session.prompts[key] = text
	return nil
}

// Prompt implements Store.
func (s *MemStore) Prompt(_ context.Context, id, key string) ([]byte, error) {
	if err := CheckID(id); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.sessions[id]; one != nil {
		if text, ok := one.prompts[key]; ok {
			return text, nil
		}
	}
	return nil, &fs.PathError{Op: "open", Path: key, Err: fs.ErrNotExist}
}
