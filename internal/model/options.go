package model

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// What Options leaves at zero.
const (
	DefaultMaxRetries  = 4
	DefaultRetryBudget = 2 * time.Minute
	DefaultTimeout     = 10 * time.Minute
)

// The values of Options.ToolCallContent: what is sent as the content of an
// assistant message that holds tool calls.
const (
	ContentOmit  = "omit"  // no content key
	ContentEmpty = "empty" // content: ""
	ContentKeep  = "keep"  // the text the model wrote, no key when it wrote none
)

// Options configures the OpenAI-compatible client. Everything but BaseURL has a
// useful zero value.
type Options struct {
	BaseURL         string        // https://host/v1; /chat/completions is added
	APIKey          string        // "" sends no Authorization header
	Model           string        // used when a request names none
	Temperature     *float64      // nil: not sent; an explicit 0 is sent
	MaxTokens       int           // 0: not sent
	Streaming       bool          // ask for server-sent events
	Timeout         time.Duration // for one attempt, answer included; 0: DefaultTimeout
	MaxRetries      int           // 0: DefaultMaxRetries; negative: none
	RetryBudget     time.Duration // from the first failure on; 0: DefaultRetryBudget
	ToolCallContent string        // omit, empty or keep; "": omit

	// Roles gives a role its own endpoint or model.
	Roles map[Role]RoleOptions

	HTTPClient *http.Client                               // nil: one with a pool of its own
	Now        func() time.Time                           // nil: time.Now
	Sleep      func(context.Context, time.Duration) error // nil: a timer that ctx ends
	Jitter     func(time.Duration) time.Duration          // nil: +-50 %
}

// RoleOptions is what a role has of its own; a zero field is inherited. The API
// key is inherited only where the base URL is: a key is never sent to an
// endpoint it was not given for.
type RoleOptions struct {
	BaseURL         string
	APIKey          string
	Model           string
	Temperature     *float64
	MaxTokens       int
	Streaming       *bool
	Timeout         time.Duration
	MaxRetries      int
	ToolCallContent string
}

// Check reports the first option that cannot be used, as an *Error.
func (o Options) Check() error {
	if _, err := endpointURL(o.BaseURL); err != nil {
		return err
	}
	if _, ok := contentModes[o.ToolCallContent]; !ok {
		return &Error{
			Message: fmt.Sprintf("tool_call_content %q is not known", o.ToolCallContent),
			Hint:    "use omit, empty or keep",
		}
	}
	for _, r := range []Role{RoleAgent, RoleGrader, RoleJudge} {
		if _, ok := o.Roles[r]; !ok {
			continue
		}
		if err := o.forRole(r).Check(); err != nil {
			return err
		}
	}
	return nil
}

// forRole returns the options that hold for role r, without Roles.
func (o Options) forRole(r Role) Options {
	own := o.Roles[r]
	o.Roles = nil
	if own.BaseURL != "" && own.BaseURL != o.BaseURL {
		o.BaseURL, o.APIKey = own.BaseURL, ""
	}
	if own.APIKey != "" {
		o.APIKey = own.APIKey
	}
	if own.Model != "" {
		o.Model = own.Model
	}
	if own.Temperature != nil {
		o.Temperature = own.Temperature
	}
	if own.MaxTokens != 0 {
		o.MaxTokens = own.MaxTokens
	}
	if own.Streaming != nil {
		o.Streaming = *own.Streaming
	}
	if own.Timeout != 0 {
		o.Timeout = own.Timeout
	}
	if own.MaxRetries != 0 {
		o.MaxRetries = own.MaxRetries
	}
	if own.ToolCallContent != "" {
		o.ToolCallContent = own.ToolCallContent
	}
	return o
}

// endpointURL is where requests for base go. A base that already names the
// endpoint is taken as it is, and a query (api-version=…) is kept.
func endpointURL(base string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(base))
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, &Error{
			Message: fmt.Sprintf("the base URL %q is no http or https URL", displayURL(base)),
			Hint:    "set ARCHMAX_API_BASE_URL (model.base_url) to something like https://api.openai.com/v1",
			Err:     err,
		}
	}
	u.Path = strings.TrimRight(u.Path, "/")
	if !strings.HasSuffix(u.Path, "/chat/completions") {
		u.Path += "/chat/completions"
	}
	u.RawPath = ""
	return u, nil
}

// displayURL is base as a message may show it: no user, password or query,
// where keys are sometimes put.
func displayURL(base string) string {
	u, err := url.Parse(strings.TrimSpace(base))
	if err != nil || u.Host == "" {
		base, _, _ = strings.Cut(base, "?")
		if i := strings.LastIndex(base, "@"); i >= 0 {
			base = base[i+1:]
		}
		return oneLine(base, 200)
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return oneLine(u.String(), 200)
}
