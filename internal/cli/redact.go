package cli

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync"
)

// redacted stands where a secret stood.
const redacted = "[redacted]"

// minSecret is the length under which a value is no secret worth hiding: hiding
// "test" would ruin every text that says it.
const minSecret = 8

// secrets is the set of values that no output may show. It is filled while the
// configuration is read and shared by every writer; safe for concurrent use.
type secrets struct {
	mu     sync.RWMutex
	values []string // longest first, so a secret inside another leaves nothing
}

// add makes value a secret, in its plain and its JSON form.
func (s *secrets) add(value string) {
	value = strings.TrimSpace(value)
	if len(value) < minSecret {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	forms := []string{value}
	if quoted, err := json.Marshal(value); err == nil {
		forms = append(forms, string(quoted[1:len(quoted)-1]))
	}
	for _, form := range forms {
		if !slices.Contains(s.values, form) {
			s.values = append(s.values, form)
		}
	}
	slices.SortFunc(s.values, func(a, b string) int { return len(b) - len(a) })
}

// list is the secrets, in every form.
func (s *secrets) list() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clone(s.values)
}

// hide replaces every secret in text.
func (s *secrets) hide(text string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, v := range s.values {
		text = strings.ReplaceAll(text, v, redacted)
	}
	return text
}

// tail is the length of the longest end of text that may be the beginning of a
// secret.
func (s *secrets) tail(text string) int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	longest := 0
	for _, v := range s.values {
		for n := min(len(v)-1, len(text)); n > longest; n-- {
			if strings.HasPrefix(v, text[len(text)-n:]) {
				longest = n
				break
			}
		}
	}
	return longest
}

// redactor is a writer that hides secrets, also when one is split over several
// writes: it holds back an end that may be the beginning of a secret until the
// next write or Flush. It remembers the first error and fails ever after.
type redactor struct {
	secrets *secrets

	mu   sync.Mutex
	w    io.Writer
	held string
	err  error
}

// Write implements io.Writer.
func (r *redactor) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return 0, r.err
	}
	text := r.secrets.hide(r.held + string(p))
	keep := r.secrets.tail(text)
	r.held = text[len(text)-keep:]
	r.put(text[:len(text)-keep])
	return len(p), r.err
}

// Flush writes what was held back.
func (r *redactor) Flush() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.put(r.held)
	r.held = ""
	return r.err
}

func (r *redactor) put(text string) {
	if r.err == nil && text != "" {
		_, r.err = io.WriteString(r.w, text)
	}
}
