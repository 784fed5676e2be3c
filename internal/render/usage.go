package render

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/archmax-ai/archmax/internal/runtime"
)

// UsageLine is usage for a person: "tokens in 20,369 · out 287 · cache 18,000 r
// · $0.0123". What is unknown or zero beyond the tokens is left out; "" when
// nothing is known.
func UsageLine(u runtime.UsageReport) string {
	if u.ModelCalls == 0 {
		return ""
	}
	var parts []string
	if u.InputTokens != nil && u.OutputTokens != nil {
		parts = append(parts, "tokens in "+Count(*u.InputTokens), "out "+Count(*u.OutputTokens))
		if cache := cacheText(u); cache != "" {
			parts = append(parts, cache)
		}
	}
	if u.CostUSD != nil {
		parts = append(parts, Dollars(*u.CostUSD))
	}
	if len(parts) > 0 && u.UnknownCalls > 0 {
		parts = append(parts, unknownCalls(u.UnknownCalls))
	}
	return strings.Join(parts, " · ")
}

// unknownCalls says how many calls did not report what they used.
func unknownCalls(n int64) string {
	if n == 1 {
		return "1 call unknown"
	}
	return Count(n) + " calls unknown"
}

func cacheText(u runtime.UsageReport) string {
	var parts []string
	if n := u.CacheReadTokens; n != nil && *n > 0 {
		parts = append(parts, Count(*n)+" r")
	}
	if n := u.CacheCreationTokens; n != nil && *n > 0 {
		parts = append(parts, Count(*n)+" w")
	}
	if len(parts) == 0 {
		return ""
	}
	return "cache " + strings.Join(parts, " ")
}

// Count is n with thousands separated: 20,369.
func Count(n int64) string {
	digits := strconv.FormatInt(n, 10)
	start := 0
	if n < 0 {
		start = 1
	}
	for i := len(digits) - 3; i > start; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Dollars is an amount with four decimals: $0.0123; "<$0.0001" for less.
func Dollars(usd float64) string {
	if usd > 0 && usd < 0.0001 {
		return "<$0.0001"
	}
	return fmt.Sprintf("$%.4f", usd)
}

// plural is "1 error", "2 errors".
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
