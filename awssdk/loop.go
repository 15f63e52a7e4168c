package awssdk

import (
	"math"
	"strconv"
	"strings"

	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// attemptHeaderName is the header with which the SDK tells the service the number of an attempt.
const attemptHeaderName = "Amz-Sdk-Request"

// openLimit is the limit of a loop whose attempts [WithOperation] may raise: the strategy decides how many there are.
const openLimit = math.MaxInt32

// attemptHeader is what the loop of the SDK writes about an attempt into its request. The zero value is that of a request
// without the header.
type attemptHeader struct {
	number int // 1 for the first
	limit  int // of the attempts of the loop; 0 if there is none
}

// attemptOf reads the header of a request, such as "attempt=2; max=3; ttl=20261126T110000Z". A loop without a limit leaves max
// out, and to it negative numbers are no limit.
func attemptOf(request *smithyhttp.Request) (h attemptHeader) {
	if values := request.Header[attemptHeaderName]; len(values) > 0 {
		rest := values[0]
		h.number, rest = numberIn(rest, "attempt=")
		h.limit, _ = numberIn(rest, "; max=")
	}
	return h
}

// numberIn returns the number after a key at the beginning of a text, or zero, and the rest of the text.
func numberIn(text, key string) (n int, rest string) {
	digits, _ := strings.CutPrefix(text, key)
	end := strings.IndexByte(digits, ';')
	if end < 0 {
		end = len(digits)
	}
	n, _ = strconv.Atoi(digits[:end]) // zero for other texts
	return max(n, 0), digits[end:]
}

// left returns how many attempts the loop makes at most, this one included: 0 if the strategy decides, math.MaxInt if there is
// no limit.
func (h attemptHeader) left() int {
	switch {
	case h.number == 0 || h.limit == openLimit:
		return 0
	case h.limit == 0:
		return math.MaxInt
	}
	return h.limit - max(h.number-1, 0)
}

// tellLimit puts the limit that the strategy has chosen into the header, in place of openLimit.
func tellLimit(request *smithyhttp.Request, limit int) {
	open, chosen := "max="+strconv.Itoa(openLimit), "max="+strconv.Itoa(limit)
	request.Header[attemptHeaderName] = []string{strings.Replace(request.Header.Get(attemptHeaderName), open, chosen, 1)}
}
