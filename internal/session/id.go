package session

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"
)

// MaxIDBytes is the longest session id, in bytes of UTF-8.
const MaxIDBytes = 256

// Areas are the folders of a session; the rest of its folder is free.
var Areas = []string{"checkpoints", "scratchpad", "large_tool_results", "conversation_history", "artifacts"}

// reservedRoots are names that the workspace gives to something else: the
// session's areas, the store's own folders, and the default mounts.
var reservedRoots = map[string]bool{
	"checkpoints": true, "scratchpad": true, "large_tool_results": true, "conversation_history": true,
	"artifacts": true, "_specs": true, "_trash": true,
	"workflows": true, "skills": true, ".platform": true, "AGENTS.md": true,
}

var (
	plainID   = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,99}(~[0-9]+)*$`)
	childTail = regexp.MustCompile(`(~[1-9][0-9]*)+$`)
	device    = regexp.MustCompile(`^(con|prn|aux|nul|com[0-9]|lpt[0-9])$`)
	notSlug   = regexp.MustCompile(`[^a-z0-9]+`)
)

// IDError says why an id is no session id.
type IDError struct{ ID, Reason string }

func (e IDError) Error() string {
	shown := e.ID
	if len(shown) > 60 {
		shown = strings.ToValidUTF8(shown[:60], "") + "…"
	}
	return fmt.Sprintf("%q is no session id: %s", shown, e.Reason)
}

// CheckID is the one rule for session ids, applied at every door: 1 to 256
// bytes of UTF-8, no control characters, no ".." segment, no reserved name
// (the session's areas, "workflows", and the mounts that the caller names), "~"
// only in a child's shape <parent>~<n> (spec: sessions.md, "Layout").
func CheckID(id string, mounts ...string) error {
	bad := func(reason string) error { return IDError{id, reason} }
	switch {
	case id == "":
		return bad("it is empty; give 1 to 256 bytes of text")
	case len(id) > MaxIDBytes:
		return bad(fmt.Sprintf("it has %d bytes; at most %d are allowed", len(id), MaxIDBytes))
	case !utf8.ValidString(id):
		return bad("it is not UTF-8 text")
	case strings.ContainsFunc(id, unicode.IsControl):
		return bad("it holds a control character; leave it out")
	}
	for seg := range strings.FieldsFuncSeq(id, func(r rune) bool { return r == '/' || r == '\\' }) {
		if seg == ".." {
			return bad(`it holds a ".." segment; leave it out`)
		}
	}
	if reservedRoots[id] {
		return bad("the name is reserved; choose another")
	}
	for _, m := range mounts {
		if id == m {
			return bad("a mount has that name; choose another")
		}
	}
	if root := Root(id); root == "" || strings.Contains(root, "~") {
		return bad(`"~" stands only in a child's id, <parent>~<n>`)
	} else if root != id {
		return CheckID(root, mounts...)
	}
	return nil
}

// Root returns the id of the session at the top of id's chain of calls: id
// itself when it is no child.
func Root(id string) string {
	if at := childTail.FindStringIndex(id); at != nil {
		return id[:at[0]]
	}
	return id
}

// Parent returns the id of the session that called id, "" when id is no child.
func Parent(id string) string {
	if Root(id) == id {
		return ""
	}
	return id[:strings.LastIndexByte(id, '~')]
}

// Child returns the id of a session's n-th dispatch; n counts from 1.
func Child(parent string, n int) string { return parent + "~" + strconv.Itoa(n) }

// Folder returns the name of an id's folder: a plain id itself, else
// %<slug>-<16 hex digits of SHA-256(id)>, which no plain id can equal.
func Folder(id string) string {
	if plainID.MatchString(id) && !device.MatchString(id) {
		return id
	}
	slug := strings.Trim(notSlug.ReplaceAllString(strings.ToLower(id), "-"), "-")
	if len(slug) > 40 {
		slug = strings.TrimRight(slug[:40], "-")
	}
	if slug == "" {
		slug = "session"
	}
	sum := sha256.Sum256([]byte(id))
	return "%" + slug + "-" + hex.EncodeToString(sum[:8])
}

// Mint returns a new id, "s-" and a lowercase ULID: ids sort by the time they
// were minted. Entropy nil, or one that fails, is the system's.
func Mint(now time.Time, entropy io.Reader) string {
	ms := uint64(max(now.UnixMilli(), 0))
	ms = min(ms, ulid.MaxTime())
	if entropy == nil {
		entropy = rand.Reader
	}
	id, err := ulid.New(ms, entropy)
	if err != nil {
		id, _ = ulid.New(ms, rand.Reader) // the system's source does not fail
	}
	return "s-" + strings.ToLower(id.String())
}

// ForKey returns the id of the session that a run of workflow with an
// idempotency key and no session of its own opens: the same for the same two.
func ForKey(workflow, key string) string {
	sum := sha256.Sum256([]byte(workflow + "\x00" + key))
	return "k-" + hex.EncodeToString(sum[:16])
}
