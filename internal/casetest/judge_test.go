package casetest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/archmax-ai/archmax/internal/casetest"
	"github.com/archmax-ai/archmax/internal/model"
)

func judged(answers ...string) string {
	out := says("Hello there.")
	for _, a := range answers {
		out += fmt.Sprintf("- role: judge\n  text: %q\n  usage: { input: 10, output: 2 }\n", a)
	}
	return out
}

// The threshold alone decides; the first balanced JSON object is read; one
// retry, then 0 (cases.md, "grade").
func TestGrade(t *testing.T) {
	for _, tt := range []struct {
		name    string
		answers []string
		atLeast string
		score   float64
		status  string
		detail  string
	}{
		{"a score at the threshold passes", []string{`{"score": 0.8, "reason": "kind"}`}, "0.8", 0.8, "passed", ""},
		{"one below it fails, with the reason", []string{`{"score": 0.79, "reason": "rather curt"}`}, "0.8", 0.79, "failed", "scored 0.79, needs 0.8: rather curt"},
		{"what the judge says of passing counts for nothing", []string{`{"score": 0.1, "reason": "passed", "pass": true}`}, "0.8", 0.1, "failed", "scored 0.1"},
		{"the object may stand in prose and in braces", []string{"Well {so}: ```json\n{\"reason\": \"a } in \\\" text\", \"score\": 1}\n``` {\"score\": 0}"}, "1", 1, "passed", ""},
		{"an answer without an object is asked for again", []string{"I would say 7 of 10.", `{"score": 0.7}`}, "0.7", 0.7, "passed", ""},
		{"so is one whose score is out of range", []string{`{"score": 7}`, `{"score": 0.9}`}, "0.7", 0.9, "passed", ""},
		{"twice nothing to read is 0", []string{"no", "{"}, "0.1", 0, "failed", `scored 0, needs 0.1: the judge gave no score from 0 to 1, asked twice; it said "{"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := runOne(t, document(judged(tt.answers...), "- send: Hi\n- grade: { closedQA: 'Is it kind?', atLeast: "+tt.atLeast+" }\n- succeeded: true"))
			if len(r.Records) != 3 {
				t.Fatalf("%q %q", r.Error, r.Failures)
			}
			rec := r.Records[1]
			if rec.Status != tt.status || rec.Score == nil || *rec.Score != tt.score || fmt.Sprint(*rec.Threshold) != tt.atLeast || r.Error != "" {
				t.Fatalf("%+v, error %q", rec, r.Error)
			}
			wantIn(t, rec.Detail, tt.detail)
			if r.Records[2].Status != "passed" {
				t.Error("a miss about content halted the case")
			}
			if len(r.Warnings) > 0 || r.Usage.ModelCalls != int64(1+len(tt.answers)) {
				t.Errorf("warnings %q, %d calls", r.Warnings, r.Usage.ModelCalls)
			}
		})
	}
}

func TestAJudgeThatCannotBeAskedIsAnErrorOfTheCase(t *testing.T) {
	r := runOne(t, document(judged(), "- send: Hi\n- grade: { closedQA: 'Is it kind?', atLeast: 0.5 }\n- succeeded: true"))
	wantIn(t, r.Error, "cassette drift at call 1")
	if told(r) != "send passed, grade not-executed, succeeded not-executed" || r.Records[1].Score != nil {
		t.Error(told(r))
	}
}

func TestTheEvidenceIsBounded(t *testing.T) {
	long := strings.Repeat("é", 900)
	var seen *model.Request
	turns := 0
	w := newWorld(t, map[string]string{
		"workflows/flow/workflow.yaml": flow + "tests: { judge: { model: judge-1, modelOptions: { temperature: 0, maxTokens: 99 } } }\n",
		testsDir + "one.test.yaml": "title: A\ndescription: What it is about.\nsteps:\n" + strings.Repeat("- send: \""+long+"\"\n", 10) +
			"- grade: { closedQA: 'Is it \"kind\"?', atLeast: 0.5 }\n",
	})
	var options casetest.Judge
	s := w.run(func(o *casetest.Options) {
		o.Live = true
		o.NewClient = func(j casetest.Judge) (model.Client, error) {
			options = j
			return clientFunc(func(_ context.Context, req *model.Request) (model.Response, error) {
				if req.Role == model.RoleJudge {
					seen = req
					return model.Response{Text: `{"score": 1}`}, nil
				}
				turns++
				if turns%2 == 1 {
					return model.Response{Text: fmt.Sprintf("turn %d %s", turns, long), Calls: []model.Call{{Name: "ls", Args: `{"path":"/"}`}, {Name: "remove_file", Args: `{"file_path":"x"}`}}}, nil
				}
				return model.Response{Text: "final " + strings.Repeat("z", 5000)}, nil
			}), nil
		}
	})
	passes(t, s.Results[0])
	if options.Model != "judge-1" || options.MaxTokens != 99 || options.Temperature == nil || *options.Temperature != 0 {
		t.Errorf("%+v", options)
	}
	if seen.Model != "judge-1" || seen.Role != model.RoleJudge || len(seen.Tools) > 0 {
		t.Errorf("asked %s as %s", seen.Model, seen.Role)
	}
	text := seen.Messages[0].Content
	record, reply, _ := strings.Cut(text[strings.Index(text, "## Record\n")+len("## Record\n"):], "\n## Final reply\n")
	if n := len([]rune(record)); n > 12000+60 || n < 9000 {
		t.Errorf("the record has %d characters", n)
	}
	wantIn(t, text, "## Question\nIs it \"kind\"?\n", " older entries left out)", "… (100 more characters)", `"role":"tool","tool":"ls"`, `"status":"ok"`, `"status":"blocked"`, `"role":"user"`)
	if strings.Contains(record, strings.Repeat("z", 801)) || !strings.Contains(reply, strings.Repeat("z", 5000)) {
		t.Error("values are cut in the record, and the final reply is whole")
	}
	if strings.Contains(record, "turn 1 ") || !strings.Contains(record, "turn 19 ") {
		t.Error("the oldest entries go first")
	}
}
