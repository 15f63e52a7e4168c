package page

import (
	"math"
	"strconv"
	"strings"

	"github.com/awsretry/awsretry/internal/escape"
)

// unknown stands for a number that does not apply.
const unknown = "—"

func known(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// shown returns a text from outside with its control characters, and two more that XML and so SVG
// do not allow, written as in Go.
func shown(text string) string {
	return strings.NewReplacer("\ufffe", `\ufffe`, "\uffff", `\uffff`).Replace(escape.Escaped(text))
}

// Number formats a number for the page, with three digits, or with all digits before the point.
func Number(v float64) string {
	size := math.Abs(v)
	switch {
	case !known(v):
		return unknown
	case size < 0.0005:
		return "0"
	case size < 0.0995:
		return strconv.FormatFloat(v, 'f', 3, 64)
	case size < 9.995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case size < 99.95:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case size < 1e15:
		return grouped(strconv.FormatFloat(v, 'f', 0, 64))
	default:
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
}

// Brief formats a number without trailing zeros.
func Brief(v float64) string {
	text := Number(v)
	if strings.Contains(text, ".") && !strings.Contains(text, "e") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// grouped puts a comma before each three digits.
func grouped(digits string) string {
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

func count(n int) string { return grouped(strconv.Itoa(n)) }

// Percent formats a share with one decimal.
func Percent(share float64) string {
	text := strconv.FormatFloat(float64(share*100), 'f', 1, 64)
	switch {
	case !known(share) || !known(share*100):
		return unknown
	case share == 0 || share == 1:
		return strconv.FormatFloat(float64(share*100), 'f', 0, 64) + " %"
	case text == "0.0":
		return "< 0.1 %"
	default:
		return text + " %"
	}
}

// Seconds formats a time in a suitable unit.
func Seconds(v float64) string {
	switch {
	case !known(v):
		return unknown
	case v == 0:
		return "0 s"
	case v < 0.9995:
		return Number(float64(v*1e3)) + " ms"
	case v < 59.95:
		return Number(v) + " s"
	case v < 3599.5:
		whole := int64(math.Round(v))
		return strconv.FormatInt(whole/60, 10) + " m " + strconv.FormatInt(whole%60, 10) + " s"
	case v < 1e9:
		whole := int64(math.Round(v / 60))
		return count(int(whole/60)) + " h " + strconv.FormatInt(whole%60, 10) + " m"
	default:
		return Number(v/3600) + " h"
	}
}
