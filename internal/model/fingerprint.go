package model

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
)

var (
	// A time of day in a prompt or a note differs from run to run.
	timestamps = regexp.MustCompile(`\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?( ?(Z|UTC|[+-]\d{2}:?\d{2}))?`)
	// So does a minted session id: s- and a time-ordered id.
	mintedIDs = regexp.MustCompile(`\bs-[0-9a-hjkmnp-tv-z]{26}\b`)
)

// Fingerprint is a digest of what a request asks, the same from run to run:
// call ids are taken by their order, times of day and minted session ids by
// their presence, and the model id not at all.
func Fingerprint(req *Request) string {
	type call struct{ ID, Name, Args string }
	type message struct {
		Role, Content, Reasoning, CallID string
		Calls                            []call
		Images                           []string
	}
	type tool struct{ Name, Description, Schema string }
	ids := map[string]string{"": ""}
	id := func(s string) string {
		if _, ok := ids[s]; !ok {
			ids[s] = fmt.Sprintf("#%d", len(ids))
		}
		return ids[s]
	}
	normal := func(s string) string {
		return mintedIDs.ReplaceAllString(timestamps.ReplaceAllString(s, "<time>"), "<session>")
	}
	doc := struct {
		Role, Session, State, Static, Volatile string
		Messages                               []message
		Tools                                  []tool
	}{Role: string(req.Role), Session: req.Session, State: req.State, Static: normal(req.Static), Volatile: normal(req.Volatile)}
	for _, m := range req.Messages {
		out := message{Role: m.Role, Content: normal(m.Content), Reasoning: m.Reasoning, CallID: id(m.CallID)}
		for _, c := range m.Calls {
			args, ok := compactArgs(c.Args)
			if !ok {
				args = c.Args
			}
			out.Calls = append(out.Calls, call{id(c.ID), c.Name, normal(args)})
		}
		for _, im := range m.Images {
			sum := sha256.Sum256(im.Data)
			out.Images = append(out.Images, im.MediaType+" "+hex.EncodeToString(sum[:]))
		}
		doc.Messages = append(doc.Messages, out)
	}
	for _, t := range req.Tools {
		schema, ok := compactArgs(string(t.Schema))
		if !ok {
			schema = string(t.Schema)
		}
		doc.Tools = append(doc.Tools, tool{t.Name, t.Description, schema})
	}
	b, err := encodeJSON(doc)
	if err != nil {
		panic(err) // strings always encode
	}
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:16])
}
