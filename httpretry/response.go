package httpretry

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/awsretry/awsretry/internal/errcode"
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
		if e.Code, err = peek(response); err != nil {
			e.Err = c.explain(err)
		}
	}
	e.Code = strings.TrimSpace(errcode.Bare(e.Code))
	e.after, e.hinted = retryAfter(response.Header, func() time.Time { return c.config.clock().Now() })
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
func peek(response *http.Response) (code string, err error) {
	read := &tap{from: response.Body}
	code = codeIn(io.LimitReader(read, peekLimit))
	response.Body = read.untap()
	return code, read.err
}

// hold reads and keeps what is left of the body of a response, so that its connection can
// be used again. A body longer than holdLimit stays open.
func hold(response *http.Response) {
	read := &tap{from: response.Body}
	_, _ = io.Copy(io.Discard, io.LimitReader(read, holdLimit))
	whole := read.untap()
	if read.ended {
		_ = response.Body.Close()
		whole = io.NopCloser(whole)
	}
	response.Body = whole
}

// tap is a body that keeps what is read of it.
type tap struct {
	from  io.ReadCloser
	kept  bytes.Buffer
	ended bool
	err   error // other than io.EOF
}

func (t *tap) Read(p []byte) (int, error) {
	n, err := t.from.Read(p)
	t.kept.Write(p[:n])
	if err != nil {
		t.ended = true
	}
	if err != io.EOF {
		t.err = err
	}
	return n, err
}

// untap returns the body from its first byte on.
func (t *tap) untap() io.ReadCloser {
	rest := io.Reader(t.from)
	if t.ended {
		rest = ending{t.err}
	}
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(&t.kept, rest), t.from}
}

// ending is the end of a body: io.EOF, or the error if there is one.
type ending struct{ err error }

func (e ending) Read([]byte) (int, error) {
	if e.err != nil {
		return 0, e.err
	}
	return 0, io.EOF
}
