//go:build unix

package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/archmax-ai/archmax/internal/casetest"
)

// TestASignalEndsTheSuite: the case at work is cancelled, the rest does not run,
// and exit code, line and document agree.
func TestASignalEndsTheSuite(t *testing.T) {
	for name, test := range map[string]struct {
		sig  os.Signal
		code int
		word string
	}{
		"SIGINT exits 130":  {os.Interrupt, 130, "interrupted"},
		"SIGTERM exits 143": {syscall.SIGTERM, 143, "terminated"},
	} {
		for _, asJSON := range []bool{false, true} {
			t.Run(name+map[bool]string{true: " with --json"}[asJSON], func(t *testing.T) {
				t.Parallel()
				asked := make(chan struct{}, 8)
				stuck := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body) // only then is a lost client noticed
					asked <- struct{}{}
					<-r.Context().Done()
				}))
				defer stuck.Close()
				dir := greeter(t)
				for _, id := range []string{"a", "b"} {
					write(t, dir, "workflows/greet/tests/"+id+".test.yaml", "title: A case\ndescription: It hangs.\nsteps:\n  - send: Hi\n  - succeeded: true\n")
				}
				args := []string{"test", "--live"}
				if asJSON {
					args = append(args, "--json")
				}
				cmd := program(t, dir, []string{"ARCHMAX_API_BASE_URL=" + stuck.URL + "/v1", "ARCHMAX_MODEL=m"}, args...)
				var stdout, stderr bytes.Buffer
				cmd.Stdout, cmd.Stderr = &stdout, &stderr
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				select {
				case <-asked:
				case <-time.After(20 * time.Second):
					t.Fatal("the model was never asked")
				}
				if err := cmd.Process.Signal(test.sig); err != nil {
					t.Fatal(err)
				}
				if got := exitOf(t, cmd.Wait()); got != test.code {
					t.Errorf("exit code %d, want %d; stderr:\n%s", got, test.code, &stderr)
				}
				if want := "archmax: greet: " + test.word + "\n"; !strings.Contains(stderr.String(), want) {
					t.Errorf("stderr does not say %q:\n%s", want, &stderr)
				}
				if !asJSON {
					if got := stdout.String(); got != "0 passed, 1 failed, 1 skipped; "+test.word+"\n" {
						t.Errorf("stdout is %q", got)
					}
					return
				}
				var doc casetest.Suite
				if err := json.Unmarshal(stdout.Bytes(), &doc); err != nil {
					t.Fatalf("%v:\n%s", err, &stdout)
				}
				if doc.ExitCode != test.code || doc.Error != test.word || len(doc.Results) != 2 {
					t.Errorf("the document says exit code %d, error %q, %d results", doc.ExitCode, doc.Error, len(doc.Results))
				}
			})
		}
	}
}
