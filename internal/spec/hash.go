package spec

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// seal sets the machine's canonical form and its hash: SHA-256 over JSON with
// sorted keys and canonical numbers, without the metadata of the root, of the
// states and of rubrics. A `metadata` elsewhere, such as a state of that name,
// is no metadata of the language and counts.
func (m *Machine) seal(root *Node) {
	value, _ := NewDecoder().Any(root, "")
	doc, _ := value.(map[string]any)
	stripMetadata(doc)
	m.Canonical = canonicalJSON(doc)
	sum := sha256.Sum256(m.Canonical)
	m.Hash = hex.EncodeToString(sum[:])
}

func stripMetadata(doc map[string]any) {
	delete(doc, "metadata")
	states, _ := doc["states"].(map[string]any)
	for _, s := range states {
		state, _ := s.(map[string]any)
		delete(state, "metadata")
		for _, phase := range []string{"before", "after"} {
			hooks, ok := state[phase].([]any)
			if !ok {
				hooks = []any{state[phase]}
			}
			for _, h := range hooks {
				hook, _ := h.(map[string]any)
				rubric, _ := hook["rubric"].(map[string]any)
				delete(rubric, "metadata")
			}
		}
	}
}

// canonicalJSON encodes what Decoder.Any returned: keys sorted, arrays in order,
// one text for each number, no white space, no HTML escaping.
func canonicalJSON(value any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(canonicalNumbers(value)) // every such value has a JSON form
	return bytes.TrimRight(b.Bytes(), "\n")
}

func canonicalNumbers(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = canonicalNumbers(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = canonicalNumbers(e)
		}
		return out
	case json.Number:
		if d, ok := parseDecimal(string(v)); ok {
			return json.Number(d.String())
		}
	}
	return value
}
