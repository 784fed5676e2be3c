package model

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// endpoint is what the words of an error need to know.
type endpoint struct {
	shown  string // base URL as a person may see it
	secret string // the API key, never shown
	keyVar string // the variable the key comes from
	model  string
	now    func() time.Time
}

func (ep *endpoint) fault(status int, retry bool, cause error, format string, args ...any) *fault {
	return &fault{
		err: &Error{
			Status:  status,
			Message: redact(fmt.Sprintf(format, args...), ep.secret),
			Err:     hide(cause, ep.secret),
		},
		retry: retry,
		after: -1,
	}
}

// broken is an answer that cannot be used: it is asked for again.
func (ep *endpoint) broken(what string, cause error) *fault {
	return ep.fault(0, true, cause, "the model endpoint %s %s", ep.shown, what)
}

// unreachable words a request that got no response.
func (ep *endpoint) unreachable(err error) *fault {
	f := ep.fault(0, true, err, "cannot reach the model endpoint %s: %s", ep.shown, connectionCause(err))
	f.err.Hint = "check the base URL (ARCHMAX_API_BASE_URL, or model.base_url in archmax.yaml), and that its server is running and reachable"
	return f
}

// connectionCause says in plain words why a connection failed.
func connectionCause(err error) string {
	var (
		dns     *net.DNSError
		cert    *tls.CertificateVerificationError
		unknown x509.UnknownAuthorityError
		record  tls.RecordHeaderError
		netErr  net.Error
	)
	switch {
	case errors.As(err, &dns):
		return fmt.Sprintf("the host %q was not found", dns.Name)
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection was refused"
	case errors.As(err, &cert), errors.As(err, &unknown):
		return "its TLS certificate is not trusted"
	case errors.As(err, &record), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return "it does not speak TLS (https where http was meant?)"
	case errors.As(err, &netErr) && netErr.Timeout():
		return "the connection timed out"
	default:
		return "the connection was cut before an answer came"
	}
}

// refused words a response whose status is no success.
func (ep *endpoint) refused(resp *http.Response, body []byte) *fault {
	status := resp.StatusCode
	said := errorText(body)
	if isPage(resp.Header.Get("Content-Type"), body) {
		said = "a web page instead of an answer"
	}
	f := ep.statusFault(status, said)
	if status >= 300 && status < 400 {
		if u, err := resp.Location(); err == nil {
			f.err.Message += ", a redirect to " + displayURL(u.String())
		}
	}
	f.after = retryAfter(resp.Header, ep.now())
	return f
}

// statusFault words a status and what the endpoint said with it, naming the
// likely cause.
func (ep *endpoint) statusFault(status int, said string) *fault {
	name := http.StatusText(status)
	if name != "" {
		name = " " + name
	}
	f := ep.fault(status, retryable(status), nil, "the model endpoint %s answered %d%s", ep.shown, status, name)
	if said != "" {
		f.err.Message += ": " + oneLine(redact(said, ep.secret), maxShown)
	}
	f.err.Hint = ep.likelyCause(status, said)
	return f
}

var contextLength = regexp.MustCompile(`(?i)context.?(length|window)|maximum context|prompt is too long|too many tokens`)

func (ep *endpoint) likelyCause(status int, said string) string {
	switch {
	case contextLength.MatchString(said) || status == http.StatusRequestEntityTooLarge:
		return "the conversation is longer than the model takes: set settings.context.maxTokens in the workflow, or use a model with a larger window"
	case status == 401 || status == 403:
		if ep.secret == "" {
			return fmt.Sprintf("no API key was sent: set %s in the environment or .env", ep.keyVar)
		}
		return fmt.Sprintf("check the API key (%s) and that it may use the model %q", ep.keyVar, ep.model)
	case status == 402:
		return "check the account's balance at the provider"
	case status == 404:
		return fmt.Sprintf("check the base URL (ARCHMAX_API_BASE_URL, or model.base_url) and the model id %q", ep.model)
	case status == 400 || status == 422:
		return fmt.Sprintf("check that the model id %q is right and that the endpoint takes what is sent (tools, temperature, max_tokens)", ep.model)
	case status >= 300 && status < 400, status == 405:
		return "check the base URL (ARCHMAX_API_BASE_URL, or model.base_url)"
	case status == 429:
		return "the endpoint limits the rate or the quota is spent: try again later, or check the account"
	case status >= 500:
		return "the endpoint has trouble: try again later"
	}
	return ""
}

// bodyError reads the error object of a 200 answer, nil when there is none. Its
// status decides whether it is retried; without one it is a broken stream.
func (ep *endpoint) bodyError(raw json.RawMessage, whole []byte) *fault {
	switch strings.TrimSpace(string(raw)) {
	case "", "null", "false", `""`, "{}":
		return nil
	}
	said := errorText(whole)
	if status := errorStatus(raw, whole); status != 0 {
		return ep.statusFault(status, said)
	}
	f := ep.broken("broke its answer off with an error", nil)
	if said != "" {
		f.err.Message += ": " + oneLine(redact(said, ep.secret), maxShown)
	}
	return f
}

// errorStatus is the HTTP status that an error object carries, in itself or
// beside it, as a number or its text; 0 when it carries none.
func errorStatus(raw json.RawMessage, whole []byte) int {
	type fields struct {
		Code       looseText `json:"code"`
		Status     looseText `json:"status"`
		StatusCode looseText `json:"status_code"`
	}
	for _, b := range [][]byte{raw, whole} {
		var f fields
		if json.Unmarshal(b, &f) != nil {
			continue
		}
		for _, t := range []looseText{f.Code, f.Status, f.StatusCode} {
			if n, err := strconv.Atoi(string(t)); err == nil && n >= 400 && n < 600 {
				return n
			}
		}
	}
	return 0
}

// errorText finds the words in an error body: the message of any of the shapes
// in use, else a short plain text.
func errorText(body []byte) string {
	body = bytes.TrimSpace(body)
	if len(body) == 0 || body[0] == '<' {
		return ""
	}
	var v any
	if json.Unmarshal(body, &v) != nil {
		return string(body[:min(len(body), 4*maxShown)])
	}
	return messageIn(v, 0)
}

func messageIn(v any, depth int) string {
	if depth > 4 {
		return ""
	}
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var all []string
		for _, e := range v[:min(len(v), 3)] {
			if s := messageIn(e, depth+1); s != "" {
				all = append(all, s)
			}
		}
		return strings.Join(all, "; ")
	case map[string]any:
		for _, key := range []string{"error", "message", "detail", "msg", "errors", "type", "code"} {
			if s := messageIn(v[key], depth+1); s != "" {
				return s
			}
		}
	}
	return ""
}

// isPage reports whether a body is a web page, which is never shown.
func isPage(contentType string, body []byte) bool {
	return strings.Contains(contentType, "html") || bytes.HasPrefix(bytes.TrimSpace(body), []byte("<"))
}

// retryAfter reads Retry-After, seconds or a date; negative when there is none.
func retryAfter(h http.Header, now time.Time) time.Duration {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if v == "" {
		return -1
	}
	if s, err := strconv.ParseFloat(v, 64); err == nil && s >= 0 {
		return time.Duration(min(s, 1e9) * float64(time.Second))
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(0, at.Sub(now))
	}
	return -1
}

// timedOut words an attempt that ran past the client's own limit.
func (ep *endpoint) timedOut(limit time.Duration) *fault {
	f := ep.fault(0, true, context.DeadlineExceeded, "the model endpoint %s did not answer within %s", ep.shown, limit)
	f.err.Hint = "raise model.timeout in archmax.yaml, or check the endpoint"
	return f
}
