package model_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/archmax-ai/archmax/internal/model"
	"github.com/archmax-ai/archmax/internal/model/modeltest"
)

const sentinelKey = "sk-test-sentinel-0123456789" // the key of options

func TestAnUnreachableEndpointIsNamedWithWhatToCheck(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	base := "http://" + l.Addr().String() + "/v1"
	l.Close() // nothing listens there now
	_, err = client(base).Complete(context.Background(), question(), nil)
	e := modelError(t, err)
	wantIn(t, e.Error(), base, "refused", "ARCHMAX_API_BASE_URL", "model.base_url")
	if strings.Contains(e.Error(), "dial tcp") {
		t.Errorf("the library's own text is shown: %q", e.Error())
	}
}

func TestAnUnknownHostAndAWrongSchemeAreSaidPlainly(t *testing.T) {
	_, err := client("http://no-such-host.invalid/v1").Complete(context.Background(), question(), nil)
	wantIn(t, modelError(t, err).Error(), `the host "no-such-host.invalid" was not found`)

	s := modeltest.New(t, modeltest.Always(modeltest.Text("hello")))
	_, err = client(strings.Replace(s.URL, "http:", "https:", 1)).Complete(context.Background(), question(), nil)
	wantIn(t, modelError(t, err).Error(), "does not speak TLS")

	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // the handshakes are meant to fail
	secure.StartTLS()
	defer secure.Close()
	_, err = client(secure.URL).Complete(context.Background(), question(), nil)
	wantIn(t, modelError(t, err).Error(), "its TLS certificate is not trusted")
}

func TestABaseURLThatIsNoneIsRefused(t *testing.T) {
	for _, base := range []string{"", "api.openai.com/v1", "ftp://x/v1", "http://", "://"} {
		o, _ := options(base)
		if err := o.Check(); err == nil {
			t.Errorf("Check takes %q", base)
		}
		_, err := model.NewOpenAI(o).Complete(context.Background(), question(), nil)
		wantIn(t, modelError(t, err).Error(), fmt.Sprintf("the base URL %q is no http or https URL", base), "ARCHMAX_API_BASE_URL")
	}
}

func TestABadContentModeAndABadRoleURLAreRefused(t *testing.T) {
	o, _ := options("http://127.0.0.1:1/v1")
	o.ToolCallContent = "drop"
	wantIn(t, modelError(t, o.Check()).Error(), `tool_call_content "drop"`, "omit, empty or keep")
	o.ToolCallContent = ""
	o.Roles = map[model.Role]model.RoleOptions{model.RoleJudge: {BaseURL: "nonsense"}}
	wantIn(t, modelError(t, o.Check()).Error(), `"nonsense"`)
}

func TestNoModelIDIsSaid(t *testing.T) {
	o, _ := options("http://127.0.0.1:1/v1")
	o.Model = ""
	_, err := model.NewOpenAI(o).Complete(context.Background(), question(), nil)
	wantIn(t, modelError(t, err).Error(), "no model id", "ARCHMAX_MODEL")
}

func TestWithoutAKeyA401SaysSo(t *testing.T) {
	s := modeltest.New(t, modeltest.Always(modeltest.Fail(401, "who are you?")))
	o, _ := options(s.URL)
	o.APIKey = ""
	_, err := model.NewOpenAI(o).Complete(context.Background(), question(), nil)
	wantIn(t, modelError(t, err).Error(), "no API key was sent", "ARCHMAX_API_KEY")
	if h := s.Requests()[0].Header.Get("Authorization"); h != "" {
		t.Errorf("Authorization %q", h)
	}
}

func TestTheKeyOfARoleIsNamed(t *testing.T) {
	s := modeltest.New(t, modeltest.Always(modeltest.Fail(401, "who are you?")))
	o, _ := options("http://127.0.0.1:1/v1")
	o.Roles = map[model.Role]model.RoleOptions{model.RoleGrader: {BaseURL: s.URL}}
	req := question()
	req.Role = model.RoleGrader
	_, err := model.NewOpenAI(o).Complete(context.Background(), req, nil)
	wantIn(t, modelError(t, err).Error(), "ARCHMAX_GRADER_API_KEY")
}

func TestErrorsOfEveryShapeAreWorded(t *testing.T) {
	for _, body := range []string{
		`{"error":{"message":"the words","type":"x","code":null}}`,
		`{"error":"the words"}`,
		`{"message":"the words"}`,
		`{"detail":"the words"}`,
		`{"detail":[{"loc":["body"],"msg":"the words","type":"missing"}]}`,
		`[{"error":{"code":400,"message":"the words","status":"INVALID_ARGUMENT"}}]`,
		`{"error":{"message":["the words"]}}`,
		`the words`,
	} {
		_, _, err := ask(t, modeltest.Answer{Status: 400, Raw: body})
		wantIn(t, modelError(t, err).Error(), "answered 400 Bad Request: the words")
	}
}

func TestSecretsAreInNoError(t *testing.T) {
	echoes := []modeltest.Answer{
		modeltest.Fail(401, "Incorrect API key provided: "+sentinelKey+"."),
		modeltest.Fail(400, "header Authorization: Bearer "+sentinelKey),
		modeltest.Fail(400, "another key: sk-proj-ABCDEFGH12345678 was seen"),
		modeltest.Events(`{"error":{"message":"key ` + sentinelKey + ` is bad","code":401}}`),
		{Status: 400, Raw: "plain " + sentinelKey},
	}
	for _, a := range echoes {
		_, _, err := ask(t, a)
		e := modelError(t, err)
		for _, secret := range []string{sentinelKey, "sk-proj-ABCDEFGH12345678"} {
			if all := fmt.Sprintf("%v %+v %v", e, e, e.Err); strings.Contains(all, secret) {
				t.Errorf("the key is in %q", all)
			}
		}
	}
}

func TestSecretsInTheBaseURLAreNotShown(t *testing.T) {
	s := modeltest.New(t, modeltest.Always(modeltest.Fail(400, "no")))
	base := strings.Replace(s.URL, "http://", "http://user:hunter2@", 1) + "?api-key=hunter3"
	for _, b := range []string{base, "http://user:hunter2@127.0.0.1:1/v1?api-key=hunter3", "htp://user:hunter2@x/?key=hunter3"} {
		_, err := client(b).Complete(context.Background(), question(), nil)
		e := modelError(t, err)
		if all := fmt.Sprintf("%v %v", e, e.Err); strings.Contains(all, "hunter") {
			t.Errorf("a secret is in %q", all)
		}
	}
}

func TestAProvidersPageIsNeverShown(t *testing.T) {
	page := "<!DOCTYPE html>\n<html><title>Sentinel page</title></html>"
	answers := map[string]modeltest.Answer{
		"an error page":                      {Status: 404, Raw: page, RawType: "text/html"},
		"an error page under another type":   {Status: 400, Raw: page, RawType: "text/plain"},
		"an error page that names no reason": {Status: 401, Raw: "\n" + page, RawType: "application/json"},
	}
	for name, a := range answers {
		_, _, err := ask(t, a)
		e := modelError(t, err)
		if strings.Contains(e.Error(), "<") || strings.Contains(e.Error(), "Sentinel") {
			t.Errorf("%s is shown: %q", name, e.Error())
		}
		wantIn(t, e.Error(), "a web page")
	}
	s := modeltest.New(t, modeltest.Always(modeltest.Raw("text/html", page)))
	_, err := client(s.URL).Complete(context.Background(), question(), nil)
	e := modelError(t, err)
	wantIn(t, e.Error(), "web page", "base URL")
	if strings.Contains(e.Error(), "Sentinel") {
		t.Errorf("the page is shown: %q", e.Error())
	}
}

func TestAProvidersWordsAreOneLineAndBounded(t *testing.T) {
	_, _, err := ask(t, modeltest.Fail(400, "first\nsecond\x1b[31m\r\n"+strings.Repeat("long ", 1000)))
	e := modelError(t, err)
	wantIn(t, e.Error(), "first second [31m long")
	if n := utf8.RuneCountInString(e.Message); n > 450 {
		t.Errorf("the message is %d characters long", n)
	}
	if strings.ContainsRune(e.Error(), 0x1b) {
		t.Errorf("the message holds a control character: %q", e.Error())
	}
}

func TestARedirectIsSaidAndNotFollowedAsAGet(t *testing.T) {
	moved := modeltest.Answer{Status: 301, Header: []string{"Location: https://elsewhere.example/v1?key=hunter2"}, Raw: "moved"}
	_, _, err := ask(t, moved)
	e := modelError(t, err)
	wantIn(t, e.Error(), "301", "https://elsewhere.example/v1", "base URL")
	if strings.Contains(e.Error(), "hunter2") {
		t.Errorf("a secret is in %q", e.Error())
	}
}

// A provider's words may end as a sentence; the advice goes on in the same line.
func TestAdviceFollowsASentenceWithOneMark(t *testing.T) {
	e := &model.Error{Message: "the endpoint answered 401: bad key.", Hint: "check the key"}
	if got, want := e.Error(), "the endpoint answered 401: bad key; check the key"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
