package httpretry

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"strconv"

	"github.com/awsretry/awsretry/retry"
)

const (
	invocationHeader = "Amz-Sdk-Invocation-Id"
	attemptHeader    = "Amz-Sdk-Request"
	ttlFormat        = "20060102T150405Z"
)

// stamp adds the headers of AWS SDKs, in the form of aws-sdk-go-v2
// (aws/retry/middleware.go, aws/middleware/middleware.go).
func (c *call) stamp(ctx context.Context, out *http.Request, attempt retry.Attempt) {
	if out.Header == nil {
		out.Header = make(http.Header)
	}
	if out.Header.Get(invocationHeader) == "" {
		if c.id == "" {
			c.id = newID()
		}
		out.Header.Set(invocationHeader, c.id)
	}
	value := "attempt=" + strconv.Itoa(attempt.Number)
	most := c.config.Strategy.Plan(c.operation).MaxAttempts
	if attempt.Once {
		most = 1
	}
	if most > 0 {
		value += "; max=" + strconv.Itoa(most)
	}
	if ttl := c.ttl(ctx); ttl != "" {
		value += "; ttl=" + ttl
	}
	out.Header.Set(attemptHeader, value)
}

// ttl returns the latest end of the attempt; empty if it has no deadline.
func (c *call) ttl(ctx context.Context) string {
	end, limited := ctx.Deadline()
	if after := c.timer.limit.Allowed(); after > 0 {
		own := c.config.clock().Now().Add(after)
		if !limited || own.Before(end) {
			end, limited = own, true
		}
	}
	if !limited {
		return ""
	}
	return end.UTC().Format(ttlFormat)
}

// newID returns a random UUID of version 4 (RFC 9562).
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
