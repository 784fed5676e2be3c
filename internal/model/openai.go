package model

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/sashabaranov/go-openai"
)

const (
	maxBody      = 64 << 20 // of one answer
	maxErrorBody = 64 << 10
	// afterFinish is how long a stream that has given its finish reason may
	// stay silent before it counts as ended without [DONE].
	afterFinish = 5 * time.Second
)

// OpenAI is a Client for any server that speaks the chat-completions API. The
// requests and answers are its own work, on go-openai's types: go-openai's
// client re-encodes the history on every call, refuses parameters by model name
// and takes a malformed body for an empty answer.
type OpenAI struct {
	opt   Options
	url   *url.URL
	err   error // Options cannot be used
	http  *http.Client
	roles map[Role]*OpenAI
	ep    endpoint
	retry policy
	grace time.Duration // afterFinish

	mu       sync.Mutex
	dialects map[string]dialect // by model id: what the endpoint turned out to want
}

// dialect is how requests are put, where endpoints differ. What an endpoint
// turns out to want is remembered for the process.
type dialect struct {
	content       int  // a content mode
	maxCompletion bool // max_completion_tokens instead of max_tokens
	noUsageOption bool // no stream_options
}

// NewOpenAI makes a client. Options that cannot be used (see Options.Check)
// fail its calls.
func NewOpenAI(o Options) *OpenAI {
	if o.MaxRetries == 0 {
		o.MaxRetries = DefaultMaxRetries
	}
	if o.RetryBudget == 0 {
		o.RetryBudget = DefaultRetryBudget
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = sleepFor
	}
	if o.HTTPClient == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.MaxIdleConnsPerHost = 256 // many sessions share one endpoint
		o.HTTPClient = &http.Client{Transport: t}
	}
	c := newEndpoint(o.forRole(RoleAgent), "ARCHMAX_API_KEY")
	c.err = o.Check()
	c.roles = map[Role]*OpenAI{}
	for r, own := range o.Roles {
		if r == RoleAgent {
			continue
		}
		keyVar := "ARCHMAX_API_KEY"
		if own.BaseURL != "" || own.APIKey != "" {
			keyVar = "ARCHMAX_" + strings.ToUpper(string(r)) + "_API_KEY"
		}
		c.roles[r] = newEndpoint(o.forRole(r), keyVar)
	}
	return c
}

func newEndpoint(o Options, keyVar string) *OpenAI {
	hc := *o.HTTPClient
	hc.Timeout = 0 // the attempt's context is the one limit
	hc.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if req.Method != http.MethodPost || len(via) > 5 {
			return http.ErrUseLastResponse // a POST that became a GET asks nothing
		}
		return nil
	}
	c := &OpenAI{
		opt:      o,
		http:     &hc,
		ep:       endpoint{shown: displayURL(o.BaseURL), secret: o.APIKey, keyVar: keyVar, now: o.Now},
		retry:    policy{retries: max(0, o.MaxRetries), budget: o.RetryBudget, now: o.Now, sleep: o.Sleep, jitter: o.Jitter},
		dialects: map[string]dialect{},
		grace:    afterFinish,
	}
	c.url, c.err = endpointURL(o.BaseURL)
	return c
}

// Complete implements Client.
func (c *OpenAI) Complete(ctx context.Context, req *Request, sink Sink) (Response, error) {
	if c.err != nil {
		return Response{}, c.err
	}
	if own, ok := c.roles[req.Role]; ok {
		return own.Complete(ctx, req, sink)
	}
	if err := check(req); err != nil {
		return Response{}, err
	}
	ep := c.ep
	if ep.model = req.Model; ep.model == "" {
		ep.model = c.opt.Model
	}
	if ep.model == "" {
		return Response{}, &Error{
			Message: "no model id is set",
			Hint:    "set ARCHMAX_MODEL, model.name in archmax.yaml or settings.model in the workflow, or pass --model",
		}
	}
	return c.retry.ask(ctx, sink, func(out Sink) (Response, error) {
		return c.attempt(ctx, req, &ep, out)
	})
}

// attempt asks once, and once more for each thing the endpoint turns out to
// want otherwise.
func (c *OpenAI) attempt(ctx context.Context, req *Request, ep *endpoint, out Sink) (Response, error) {
	d := c.dialect(ep.model)
	start := d
	for {
		resp, err := c.once(ctx, req, ep, d, out)
		if err == nil {
			if d != start {
				c.remember(ep.model, d)
			}
			return resp, nil
		}
		next, ok := c.adapt(d, start, req, err)
		if !ok {
			return resp, err
		}
		d = next
	}
}

func (c *OpenAI) dialect(model string) dialect {
	c.mu.Lock()
	defer c.mu.Unlock()
	d, ok := c.dialects[model]
	if !ok {
		d.content = contentModes[c.opt.ToolCallContent]
	}
	return d
}

func (c *OpenAI) remember(model string, d dialect) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dialects[model] = d
}

var (
	// A 400 that wants max_completion_tokens, in the words of several endpoints;
	// not one that finds the number too large.
	wantsCompletion = regexp.MustCompile(`(?is)max_completion_tokens|(unsupported|unknown|unrecognized|unexpected|not permitted|extra).*max_tokens|max_tokens\W+(is\s+)?(not supported|unsupported|not permitted|deprecated|unknown)`)
	wantsContent    = regexp.MustCompile(`(?i)\bcontent\b`)
	wantsNoUsage    = regexp.MustCompile(`(?i)stream_options|include_usage`)
)

// adapt returns the dialect to try after err, false when err is no matter of
// dialect. Each thing changes once in a call.
func (c *OpenAI) adapt(d, start dialect, req *Request, err error) (dialect, bool) {
	var f *fault
	if !errors.As(err, &f) || (f.err.Status != 400 && f.err.Status != 422) {
		return d, false
	}
	switch {
	case c.opt.MaxTokens > 0 && !d.maxCompletion && wantsCompletion.MatchString(f.err.Message):
		d.maxCompletion = true
	case c.opt.Streaming && !d.noUsageOption && wantsNoUsage.MatchString(f.err.Message):
		d.noUsageOption = true
	case d.content == start.content && hasCalls(req) && wantsContent.MatchString(f.err.Message):
		if d.content == modeOmit {
			d.content = modeEmpty
		} else {
			d.content = modeOmit
		}
	default:
		return d, false
	}
	return d, true
}

func hasCalls(req *Request) bool {
	for _, m := range req.Messages {
		if len(m.Calls) > 0 {
			return true
		}
	}
	return false
}

// once sends one HTTP request and reads its answer.
func (c *OpenAI) once(parent context.Context, req *Request, ep *endpoint, d dialect, out Sink) (Response, error) {
	opt := wireOptions{Temperature: c.opt.Temperature, Stream: c.opt.Streaming}
	if d.maxCompletion {
		opt.MaxCompletionTokens = c.opt.MaxTokens
	} else {
		opt.MaxTokens = c.opt.MaxTokens
	}
	if c.opt.Streaming && !d.noUsageOption {
		opt.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	}
	body, err := encodeRequest(req, ep.model, d, opt)
	if err != nil {
		return Response{}, malformed("%v", err)
	}
	ctx, cancel := context.WithTimeoutCause(parent, c.opt.Timeout, errAttemptTimeout)
	defer cancel()

	resp, err := c.http.Do(c.request(ctx, body))
	if err != nil {
		return Response{}, c.connectionFault(ctx, ep, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		b, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // what came of it is enough
		return Response{}, ep.refused(resp, b)
	}
	var a answer
	a.model = ep.model
	if err := c.read(ctx, cancel, resp, &a, ep, out); err != nil {
		return Response{}, err
	}
	return a.response(ep.model), nil
}

var errAttemptTimeout = errors.New("the attempt took too long")

func (c *OpenAI) request(ctx context.Context, body *payload) *http.Request {
	u := *c.url
	r := &http.Request{
		Method: http.MethodPost, URL: &u, Host: u.Host,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{"Content-Type": {"application/json"}, "User-Agent": {"archmax"}},
		Body:          body.reader(),
		ContentLength: body.size,
		GetBody:       func() (io.ReadCloser, error) { return body.reader(), nil },
	}
	if c.opt.Streaming {
		r.Header.Set("Accept", "text/event-stream, application/json")
	} else {
		r.Header.Set("Accept", "application/json")
	}
	if c.opt.APIKey != "" {
		r.Header.Set("Authorization", "Bearer "+c.opt.APIKey)
	}
	return r.WithContext(ctx)
}

// connectionFault words an error of the connection, before or while the answer
// came.
func (c *OpenAI) connectionFault(ctx context.Context, ep *endpoint, err error) error {
	if errors.Is(context.Cause(ctx), errAttemptTimeout) {
		return ep.timedOut(c.opt.Timeout)
	}
	return ep.unreachable(err)
}

// read reads a 2xx answer: an event stream or one document, whichever came.
func (c *OpenAI) read(ctx context.Context, cancel func(), resp *http.Response, a *answer, ep *endpoint, out Sink) error {
	body := bufio.NewReaderSize(io.LimitReader(resp.Body, maxBody), 8<<10)
	events := strings.Contains(resp.Header.Get("Content-Type"), "event-stream")
	if !events {
		var err error
		if events, err = looksLikeEvents(body); err != nil {
			return c.cut(ctx, ep, "sent an empty answer", err)
		}
	}
	if events {
		return c.readEvents(ctx, cancel, body, a, ep, out)
	}
	b, err := io.ReadAll(body)
	if err != nil {
		return c.cut(ctx, ep, "broke its answer off", err)
	}
	if isPage(resp.Header.Get("Content-Type"), b) {
		f := ep.broken("answered with a web page", nil)
		f.err.Hint = "check the base URL (ARCHMAX_API_BASE_URL, or model.base_url): it often ends in /v1"
		return f
	}
	if err := a.take(bytes.TrimSpace(b), ep, out); err != nil {
		return err
	}
	if !a.choices {
		return ep.broken("sent an answer without a choice", nil)
	}
	return nil
}

// readEvents reads a stream to its [DONE], or to its end when a finish reason
// has come.
func (c *OpenAI) readEvents(ctx context.Context, cancel func(), body *bufio.Reader, a *answer, ep *endpoint, out Sink) error {
	events := newSSEReader(body)
	var silence *time.Timer
	for {
		data, err := events.next()
		if err != nil {
			switch {
			case a.finish != "" && !errors.Is(context.Cause(ctx), errAttemptTimeout):
				return nil // whole, though nobody said [DONE]
			case errors.Is(err, io.EOF):
				return ep.broken("ended its stream without a finish reason or [DONE]", nil)
			default:
				return c.cut(ctx, ep, "broke its stream off", err)
			}
		}
		if isDone(data) {
			return nil
		}
		if len(bytes.TrimSpace(data)) == 0 {
			continue
		}
		if err := a.take(data, ep, out); err != nil {
			return err
		}
		if a.finish != "" && silence == nil {
			silence = time.AfterFunc(c.grace, cancel)
			defer silence.Stop()
		}
	}
}

// cut words an answer that ended too early.
func (c *OpenAI) cut(ctx context.Context, ep *endpoint, what string, err error) error {
	if errors.Is(context.Cause(ctx), errAttemptTimeout) {
		return ep.timedOut(c.opt.Timeout)
	}
	return ep.broken(what, err)
}
