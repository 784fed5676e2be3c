package cli

import (
	"errors"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/archmax-ai/archmax/internal/model/modeltest"
)

var update = flag.Bool("update", false, "rewrite the expected output in testdata/script")

// TestMain makes the test binary the program itself when it is called archmax.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"archmax": func() { os.Exit(Main()) }})
}

// repository is the root of the checkout.
func repository(t testing.TB) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// TestScripts runs testdata/script/*.txtar. A script has these beside the usual
// commands:
//
//	exits CODE program args…   runs the program, which must exit with the code
//	$EXAMPLE                   the example workspace
//	$CASSETTES                 its cassettes
//	$MODEL                     a model endpoint: it answers every request "Hello from the model."
//	$STUCK                     one that never answers
func TestScripts(t *testing.T) {
	root := repository(t)
	model := modeltest.NewConfig(t, modeltest.Config{
		Turn: func(*modeltest.Request) string { return "" }, // scripts share the server, and change their files
	}, modeltest.Always(modeltest.Text("Hello from the model.")))
	stuck := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then is a lost client noticed
		<-r.Context().Done()
	}))
	t.Cleanup(stuck.Close) // scripts run on when this function has returned
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join(root, "testdata", "script"),
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("EXAMPLE", root)
			env.Setenv("CASSETTES", filepath.Join(root, "testdata", "cassettes"))
			env.Setenv("MODEL", model.URL)
			env.Setenv("STUCK", stuck.URL)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

// exits runs a program and checks its exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE program args…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%s: %v", args[1], err)
	}
	if got != want {
		ts.Fatalf("%s exited %d, want %d", args[1], got, want)
	}
}
