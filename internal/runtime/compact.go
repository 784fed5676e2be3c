package runtime

import (
	"context"
	"fmt"
	"strings"

	"github.com/archmax-ai/archmax/internal/event"
	"github.com/archmax-ai/archmax/internal/model"
	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/spec"
)

// Long conversations (spec: runtime.md): when the transcript nears the limit,
// older messages are summarized by the state's model and requests carry the
// summary with the newest messages whole. The journal keeps everything.

const (
	// defaultKeep is how many whole messages stay when settings.context names
	// no keepMessages.
	defaultKeep = 20
	// windowShare of a configured context window starts a compaction.
	windowShare = 0.85
	// bytesPerToken estimates tokens where no provider has counted them yet.
	bytesPerToken = 4
)

// compactLimit is the transcript size, in tokens, that starts a compaction; 0 is
// off.
func (t *turn) compactLimit() int {
	if n := t.m.Settings.Context.MaxTokens; n > 0 {
		return n
	}
	return int(float64(t.rt.opts.ContextWindow) * windowShare)
}

// compact summarizes when it is time to. Its failure is a warning: the turn goes
// on with the whole transcript.
func (t *turn) compact(ctx context.Context, state *spec.State) error {
	limit := t.compactLimit()
	if limit == 0 {
		return nil
	}
	s := t.s()
	keep := t.m.Settings.Context.KeepMessages
	if keep == 0 {
		keep = defaultKeep
	}
	from, upTo := 0, len(s.Messages)-keep
	if s.Compact != nil {
		from = s.Compact.Keep
	}
	if t.noCompact || upTo <= from || t.tokens(from) < limit {
		return nil
	}
	req, key := t.request(state, "")
	older := t.wire.slice(s.Compact, upTo)
	req.Role, req.Position = model.RoleSummary, s.Cassette[string(model.RoleSummary)]
	req.Messages = append(older, &model.Message{Role: "user", Content: summarize})
	resp, err := t.rt.opts.Client.Complete(ctx, req, silent{})
	settled := t.settledCall(req, resp, key)
	settled.UpTo = upTo
	text := strings.TrimSpace(resp.Text)
	if err == nil && text == "" {
		err = fmt.Errorf("the model wrote no summary")
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil // the loop sees the cancelled context
		}
		settled.Error = err.Error()
		t.noCompact = true
		t.add(settled)
		t.transient(event.Warning{Scope: "context", Message: "the conversation could not be summarized: " + err.Error()}, "warn")
		return t.commit()
	}
	n := 1
	if s.Compact != nil {
		n = s.Compact.N + 1
	}
	if err := t.w.Files().Write(fmt.Sprintf("conversation_history/%d.md", n), []byte(historyText(s.Messages[from:upTo])), false); err != nil {
		t.transient(event.Warning{Scope: "context", Message: "the older messages could not be stored: " + err.Error()}, "warn")
		t.noCompact = true
		t.add(settled)
		return t.commit()
	}
	settled.Text = ""
	t.add(settled, &session.Compacted{Keep: upTo, N: n, Summary: text})
	return t.commit()
}

const summarize = "Summarize the conversation so far for yourself: what was asked, what was found (with exact names, numbers and paths), what was done, and what is open. Write the summary alone. Call no tool."

// tokens estimates the size of what the next request would carry from the
// transcript.
func (t *turn) tokens(from int) int {
	n := 0
	for _, m := range t.s().Messages[from:] {
		n += len(m.Text) + len(m.Reasoning)
		for _, c := range m.Calls {
			n += len(c.Args)
			if c.Result != nil {
				n += len(c.Result.Text)
			}
		}
	}
	return n / bytesPerToken
}

// compacted is the transcript as a request carries it.
func (t *turn) compacted() []*model.Message {
	return t.wire.slice(t.s().Compact, len(t.s().Messages))
}

// slice is the messages up to the session message upTo, with what a compaction
// replaced as its summary.
func (tr *transcript) slice(c *session.Compacted, upTo int) []*model.Message {
	end := tr.at(upTo)
	if c == nil {
		return tr.messages[:end:end]
	}
	if tr.summaryOf != c {
		tr.summaryOf = c
		tr.summary = &model.Message{Role: "user", Content: fmt.Sprintf("[summary] The conversation before this point, summarized; the original is in `conversation_history/%d.md`.\n\n%s", c.N, c.Summary)}
	}
	return append([]*model.Message{tr.summary}, tr.messages[tr.at(c.Keep):end]...)
}

// at is the index of session message i among the model messages.
func (tr *transcript) at(i int) int {
	if i >= len(tr.starts) {
		return len(tr.messages)
	}
	return tr.starts[i]
}

func historyText(messages []*session.Message) string {
	var b strings.Builder
	for _, m := range messages {
		fmt.Fprintf(&b, "## %s (%s)\n\n", m.Role, m.State)
		if m.Text != "" {
			b.WriteString(m.Text + "\n\n")
		}
		for _, c := range m.Calls {
			fmt.Fprintf(&b, "- call `%s` %s\n", c.Name, session.ArgsOf(c))
			if c.Result != nil {
				b.WriteString("\n" + c.Result.Text + "\n\n")
			}
		}
	}
	return b.String()
}

// silent takes a stream that nobody watches.
type silent struct{}

func (silent) Delta(string) {}
func (silent) Broken()      {}
