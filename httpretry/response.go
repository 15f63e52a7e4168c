package httpretry

import (
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/awsretry/awsretry/internal/wire"
)

const (
	// peekLimit is how many bytes of an error body are searched for a code.
	peekLimit = 64 << 10
	// holdLimit is how many bytes of an error body are read and kept before a backoff. The
	// connection is then free, and the response still whole if the next attempt is refused.
	holdLimit = 64 << 10
)

// judge returns the error of a failed response, whose body can be read as before.
func (c *call) judge(response *http.Response) error {
	e := &ResponseError{Status: response.StatusCode, Header: response.Header}
	e.Code = response.Header.Get("X-Amzn-Errortype")
	if e.Code == "" && mayHaveCode(response) {
		var err error
		if e.Code, err = c.peek(response); err != nil {
			e.Err = c.explain(err)
		}
	}
	e.Code = strings.TrimSpace(wire.BareCode(e.Code))
	e.after, e.inFull, e.hinted = wire.HintOf(response.Header, func() time.Time { return c.config.clock().Now() })
	return e
}

// mayHaveCode reports whether the body may be JSON or XML that can be read.
func mayHaveCode(r *http.Response) bool {
	if r.Body == http.NoBody || r.ContentLength == 0 || r.Header.Get("Content-Encoding") != "" {
		return false
	}
	kind := strings.ToLower(r.Header.Get("Content-Type"))
	return kind == "" || strings.Contains(kind, "json") || strings.Contains(kind, "xml")
}

// peek returns the code in the body of a response and the error of reading the body.
func (c *call) peek(response *http.Response) (code string, err error) {
	body := c.peeked(response.Body)
	response.Body = body
	err = body.peek(c.alive(), func(body io.Reader) { code = codeIn(io.LimitReader(body, peekLimit)) })
	return code, err
}

// hold reads and keeps what is left of the body of a response, so that its connection can be
// used again. A body stays open if it is longer than holdLimit or does not end in time.
func (c *call) hold(response *http.Response) {
	if response.Body == http.NoBody {
		return
	}
	body := c.peeked(response.Body)
	response.Body = body
	left := int64(holdLimit - body.kept.Len())
	_ = body.peek(c.alive(), func(body io.Reader) { _, _ = io.Copy(io.Discard, io.LimitReader(body, left)) })
	if body.err != nil {
		_ = body.Close()
		body.Closer = http.NoBody
	}
}
