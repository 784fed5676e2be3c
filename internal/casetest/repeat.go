package casetest

import (
	"fmt"
	"math"

	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/session"
)

// Repeat is how a case fared over several runs. Low and High are the 95 % Wilson
// interval of its true pass rate, as fractions.
type Repeat struct {
	Runs   int     `json:"runs"`
	Passed int     `json:"passed"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// z95 is the quantile of the normal distribution that leaves 2.5 % above it.
const z95 = 1.959963984540054

// Wilson is the 95 % score interval of a rate of which passed of runs were seen,
// rounded to four decimals, outwards.
func Wilson(passed, runs int) (low, high float64) {
	if runs == 0 {
		return 0, 1
	}
	n, p := float64(runs), float64(passed)/float64(runs)
	middle := p + z95*z95/(2*n)
	half := z95 * math.Sqrt(p*(1-p)/n+z95*z95/(4*n*n))
	scale := 1 + z95*z95/n
	low, high = (middle-half)/scale, (middle+half)/scale
	// At the ends the exact bound is 0 or 1; the subtraction leaves dust there.
	if passed == 0 {
		low = 0
	}
	if passed == runs {
		high = 1
	}
	return math.Floor(low*1e4) / 1e4, math.Ceil(high*1e4) / 1e4
}

// together makes one result of a case's runs. It shows the first run that ended
// as the case did; of runs that failed in a case that passed all the same, the
// warnings tell.
func together(runs []*Result, minPass float64) *Result {
	if len(runs) == 1 {
		return runs[0]
	}
	passed := 0
	for _, r := range runs {
		if r.Status == Passed {
			passed++
		}
	}
	status := Failed
	if float64(passed) >= minPass*float64(len(runs))-1e-9 {
		status = Passed
	}
	var shown *Result
	for _, r := range runs {
		if r.Status == status {
			shown = r
			break
		}
	}
	if shown == nil {
		return runs[0] // skipped, every time
	}
	out := *shown
	low, high := Wilson(passed, len(runs))
	out.Repeat = &Repeat{Runs: len(runs), Passed: passed, Low: low, High: high}
	out.DurationMs, out.total, out.taken = 0, session.Usage{}, tally{}
	for n, r := range runs {
		out.DurationMs += r.DurationMs
		out.total.Add(r.total)
		out.taken.add(r.taken)
		if status == Passed && r.Status == Failed {
			out.Warnings = append(out.Warnings, fmt.Sprintf("run %d failed: %s", n+1, r.why()))
		}
	}
	out.Usage = runtime.ReportUsage(out.total)
	return &out
}

// why is the first thing that went wrong.
func (res *Result) why() string {
	if res.Error != "" || len(res.Failures) == 0 {
		return res.Error
	}
	return res.Failures[0]
}
