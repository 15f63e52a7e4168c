package awssdk

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"strings"

	awsretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// attemptHeader is the header with which the SDK tells the service the number of an attempt.
const attemptHeader = "Amz-Sdk-Request"

// attemptOf returns the number of the attempt that the loop of the SDK makes with ctx, and how
// many the loop makes at most: [math.MaxInt] if it has no limit. Outside of such a loop both are 0.
//
// The loop keeps both in the context under a key of its own. The middleware that once wrote
// the header can read them, so attemptOf lets it write a header.
func (s *shared) attemptOf(ctx context.Context) (number, limit int) {
	request, ok := s.requests.Get().(*smithyhttp.Request)
	if !ok {
		request = &smithyhttp.Request{Request: &http.Request{Header: http.Header{}}}
	}
	defer s.requests.Put(request)
	in := middleware.FinalizeInput{Request: request}
	//nolint:staticcheck // nothing else that is exported reads what the loop keeps in the context
	if _, _, err := (awsretry.MetricsHeader{}).HandleFinalize(ctx, in, nowhere{}); err != nil {
		return 0, 0
	}
	return parseAttempt(strings.Join(request.Header[attemptHeader], ";"))
}

// parseAttempt reads a header such as "attempt=2; max=3". A loop whose limit is 0 leaves max out. To
// the loop 0 and negative numbers are no limit.
func parseAttempt(header string) (number, limit int) {
	for part := range strings.SplitSeq(header, ";") {
		key, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		n, err := strconv.Atoi(value)
		switch {
		case err != nil:
		case key == "attempt":
			number = n
		case key == "max":
			limit = n
		}
	}
	switch {
	case number <= 0:
		return 0, 0
	case limit <= 0:
		return number, math.MaxInt
	}
	return number, limit
}

// nowhere is a handler that sends nothing.
type nowhere struct{}

func (nowhere) HandleFinalize(context.Context, middleware.FinalizeInput) (
	out middleware.FinalizeOutput, metadata middleware.Metadata, err error,
) {
	return out, metadata, nil
}
