package httpretry_test

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/awsretry/awsretry/internal/testonly/pipenet"
)

// fault is one way in which an attempt fails.
type fault struct {
	name string
	do   http.HandlerFunc
	// refused: there is no connection, and do is not called.
	refused bool
	// status is what the client gets if all attempts fail so; 0 for an error.
	status int
	// final: the service has answered, and there must be no further attempt.
	final bool
	// cut: the client gets a response whose body is cut off.
	cut bool
	// reusable: the next attempt can use the connection.
	reusable bool
}

// attemptTimeout is longer than every answer that is not meant to be slow, and shorter than the time for which
// the body of a failure is looked into.
const attemptTimeout = 900 * time.Millisecond

func faults() []fault {
	long := strings.Repeat("x", 1<<20)
	return []fault{
		{name: "no fault", final: true, status: 200, do: respond(200, "fine"), reusable: true},
		{name: "500", status: 500, do: respond(500, ""), reusable: true},
		{name: "502 with a page", status: 502, do: respond(502, "<html><body>bad gateway</body></html>", "Content-Type", "text/html"), reusable: true},
		{name: "503", status: 503, do: respond(503, "later"), reusable: true},
		{name: "504 without end of body", status: 504, do: respond(504, long)},
		{name: "429", status: 429, do: respond(429, "slower"), reusable: true},
		{name: "throttle in a header", status: 400, do: respond(400, "{}", "X-Amzn-Errortype", "ThrottlingException:"), reusable: true},
		{
			name: "throttle in JSON", status: 400, reusable: true,
			do: respond(400, `{"message":"no","__type":"a.b#ProvisionedThroughputExceededException"}`, "Content-Type", "application/x-amz-json-1.0"),
		},
		{
			name: "throttle in XML", status: 503, reusable: true,
			do: respond(503, `<?xml version="1.0"?><Error><Code>SlowDown</Code></Error>`, "Content-Type", "application/xml"),
		},
		{name: "Retry-After in seconds", status: 503, do: respond(503, "", "Retry-After", "3"), reusable: true},
		{name: "Retry-After as a date", status: 503, reusable: true, do: func(w http.ResponseWriter, r *http.Request) {
			respond(503, "", "Retry-After", time.Now().Add(4*time.Second).UTC().Format(http.TimeFormat))(w, r)
		}},
		{name: "Retry-After without measure", status: 503, do: respond(503, "", "Retry-After", "99999999999999999999"), reusable: true},
		{name: "x-amz-retry-after", status: 503, do: respond(503, "", "X-Amz-Retry-After", "1500"), reusable: true},
		{name: "connection refused", refused: true},
		{name: "closed without an answer", do: onConn(func(c *pipenet.Conn) { _ = c.Close() })},
		{name: "reset without an answer", do: onConn(func(c *pipenet.Conn) { _ = c.Reset() })},
		{name: "reset in the headers", do: cutAfter("HTTP/1.1 200 OK\r\nContent-Le")},
		{name: "not HTTP", do: cutAfter("SSH-2.0-OpenSSH\r\n\r\n")},
		{name: "reset in an error body", status: 503, do: cutAfter("HTTP/1.1 503 Unavailable\r\nContent-Length: 9\r\n\r\nabc")},
		{
			name: "reset in a code", status: 400,
			do: cutAfter("HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n" + `{"__type":"Thr`),
		},
		{name: "slow headers", do: stuck(0)},
		{name: "slow error body", status: 503, do: stuck(503)},
		{name: "slow code", status: 400, do: stuck(400)},
		{name: "404", status: 404, final: true, do: respond(404, `{"code":"ResourceNotFoundException"}`), reusable: true},
		{name: "reset in a body", status: 200, final: true, cut: true, do: cutAfter("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")},
	}
}

// respond answers like any server.
func respond(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// onConn takes the connection from the server.
func onConn(do func(c *pipenet.Conn)) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		do(conn.(*pipenet.Conn))
	}
}

// cutAfter resets the connection after the text.
func cutAfter(text string) http.HandlerFunc {
	return onConn(func(c *pipenet.Conn) {
		_, _ = io.WriteString(c, text)
		_ = c.Reset()
	})
}

// stuck answers nothing, or the beginning of a response, until the client goes.
func stuck(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if status != 0 {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, `{"__type":`)
			_ = http.NewResponseController(w).Flush()
		}
		<-r.Context().Done()
	}
}
