package spec

import (
	"strconv"
	"strings"
)

// decimal is an exact number, 0.digits × 10^exp. Its digits have no zeros at
// either end; none means zero. It never expands an exponent, so a number costs
// what its text does.
type decimal struct {
	negative bool
	digits   string
	exp      int
}

// maxDecimalExponent is beyond every number worth comparing.
const maxDecimalExponent = 100000

// parseDecimal reads a JSON number.
func parseDecimal(s string) (decimal, bool) {
	if !jsonNumber.MatchString(s) {
		return decimal{}, false
	}
	var d decimal
	s, d.negative = strings.CutPrefix(s, "-")
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		e, err := strconv.Atoi(s[i+1:])
		if err != nil || e > maxDecimalExponent || e < -maxDecimalExponent {
			return decimal{}, false
		}
		d.exp, s = e, s[:i]
	}
	whole, fraction, _ := strings.Cut(s, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	d.exp += len(whole) - (len(whole) + len(fraction) - len(digits))
	d.digits = strings.TrimRight(digits, "0")
	if d.digits == "" {
		return decimal{}, true
	}
	return d, true
}

// cmp is negative, zero or positive as a is below, equal to or above b.
func (a decimal) cmp(b decimal) int {
	switch {
	case a.sign() != b.sign():
		return a.sign() - b.sign()
	case a.exp != b.exp:
		return a.sign() * (a.exp - b.exp)
	default:
		return a.sign() * strings.Compare(a.digits, b.digits)
	}
}

func (a decimal) sign() int {
	switch {
	case a.digits == "":
		return 0
	case a.negative:
		return -1
	default:
		return 1
	}
}

// integer reports whether the number has no fraction.
func (a decimal) integer() bool { return len(a.digits) <= a.exp || a.digits == "" }

// String is the canonical form: one text for one value, 1.0 and 1e0 included.
func (a decimal) String() string {
	n := len(a.digits)
	var s string
	switch {
	case n == 0:
		return "0"
	case n <= a.exp && a.exp <= 21:
		s = a.digits + strings.Repeat("0", a.exp-n)
	case 0 < a.exp && a.exp <= 21:
		s = a.digits[:a.exp] + "." + a.digits[a.exp:]
	case -6 < a.exp && a.exp <= 0:
		s = "0." + strings.Repeat("0", -a.exp) + a.digits
	default:
		s = a.digits[:1]
		if n > 1 {
			s += "." + a.digits[1:]
		}
		s += "e" + strconv.Itoa(a.exp-1)
	}
	if a.negative {
		return "-" + s
	}
	return s
}
