package model

import (
	"regexp"
	"strings"
	"unicode"
)

// maxShown bounds, in runes, what a message shows of a provider's own words.
const maxShown = 300

const redacted = "[redacted]"

var (
	keyShapes = regexp.MustCompile(`\b(?:sk|pk|rk|key|gsk|xai)-[A-Za-z0-9_*.-]{8,}|\bAIza[A-Za-z0-9_-]{20,}`)
	bearers   = regexp.MustCompile(`(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}`)
	userInfo  = regexp.MustCompile(`(://)[^/\s@]+@`)
	keyParams = regexp.MustCompile(`(?i)([?&](?:api[-_]?key|key|token|access_token|sig)=)[^&\s"']+`)
)

// redact removes the given secrets, and what looks like a key, from s.
func redact(s string, secrets ...string) string {
	for _, secret := range secrets {
		if len(secret) >= 4 { // shorter ones (a local server's "x") are no secrets and would garble the text
			s = strings.ReplaceAll(s, secret, redacted)
		}
	}
	s = keyShapes.ReplaceAllString(s, redacted)
	s = bearers.ReplaceAllString(s, "${1} "+redacted)
	s = userInfo.ReplaceAllString(s, "${1}")
	return keyParams.ReplaceAllString(s, "${1}"+redacted)
}

// oneLine collapses white space and control characters and cuts to n runes.
func oneLine(s string, n int) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	s = strings.ToValidUTF8(s, "?")
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}

// hiddenCause is a cause whose text may hold a secret: it can be looked into,
// and says itself without it.
type hiddenCause struct {
	text string
	err  error
}

// Error is the redacted text.
func (h hiddenCause) Error() string { return h.text }

// Unwrap returns the cause itself, for errors.Is and errors.As.
func (h hiddenCause) Unwrap() error { return h.err }

func hide(err error, secrets ...string) error {
	if err == nil {
		return nil
	}
	return hiddenCause{text: redact(err.Error(), secrets...), err: err}
}
