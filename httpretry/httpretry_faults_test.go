package httpretry_test

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/internal/testonly/pipenet"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// TestNoRequestIsLostOrDoubled sends requests through each kind of fault, in both modes and
// both behaviors, with and without a body. A bubble does not end before its goroutines, and
// serve counts connections.
func TestNoRequestIsLostOrDoubled(t *testing.T) {
	t.Parallel()
	var all tally
	cells := 0
	for _, f := range faults() {
		for _, mode := range []string{"standard", "adaptive"} {
			for _, behavior := range []retry.Behavior{retry.V20, retry.V21} {
				for _, body := range []string{"", "a body"} {
					cells++
					t.Run(fmt.Sprintf("%s/%s/%s/body=%q", f.name, mode, behavior, body), func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) {
							s := modes(t, standard.Config{Behavior: behavior})[mode]
							all.add(sweep(t, f, s, body))
						})
					})
				}
			}
		}
	}
	require.Zero(t, all.doubled)
	require.Equal(t, all.requests, all.answered+all.failed, "each has one end")
	t.Logf("%d cells: %d requests, %d attempts, %d answered, %d failed after all attempts, %d doubled, %d connections, 0 left open",
		cells, all.requests, all.attempts, all.answered, all.failed, all.doubled, all.dials)
}

// tally counts what happened to requests.
type tally struct{ requests, attempts, answered, failed, doubled, dials int }

func (a *tally) add(b tally) {
	a.requests += b.requests
	a.attempts += b.attempts
	a.answered += b.answered
	a.failed += b.failed
	a.doubled += b.doubled
	a.dials += b.dials
}

// sweep sends requests one after the other and at the same time. In the first round one
// attempt of each request fails, in the second two, in the third all.
func sweep(t *testing.T, f fault, s retry.Strategy, body string) (got tally) {
	t.Helper()
	c := &counting{fault: f, attempts: map[string]int{}, answered: map[string]bool{}}
	c.network = serve(t, c)
	c.inner = c.network.Transport()
	c.client = &http.Client{Transport: newTransport(t, httpretry.Config{
		Strategy: s, Base: roundTripFunc(c.attempt), AttemptTimeout: retry.FixedTimeout{First: attemptTimeout},
	})}
	for _, fails := range []int{1, 2, 3} {
		c.fails = fails
		var group sync.WaitGroup
		for i := range 4 {
			id := fmt.Sprintf("/%d/%d", fails, i)
			if i < 2 {
				c.send(t, id, body)
				continue
			}
			group.Go(func() { c.send(t, id, body) })
		}
		group.Wait()
		if fails == 1 && f.reusable {
			require.LessOrEqual(t, c.network.Dials(), int64(2), "connections of two requests at a time")
		}
	}
	c.inner.CloseIdleConnections()
	c.tally.dials = int(c.network.Dials())
	return c.tally
}

// counting is a service that fails the first attempts of each request, and counts.
type counting struct {
	fault   fault
	fails   int
	network *pipenet.Network
	inner   *http.Transport
	client  *http.Client

	mu       sync.Mutex // guards all below
	attempts map[string]int
	answered map[string]bool
	tally    tally
}

// attempt counts an attempt, and refuses it if that is the fault.
func (c *counting) attempt(r *http.Request) (*http.Response, error) {
	c.mu.Lock()
	c.tally.attempts++
	c.attempts[r.URL.Path]++
	failing := c.attempts[r.URL.Path] <= c.fails
	c.mu.Unlock()
	if failing && c.fault.refused {
		only := pipenet.New()
		only.Refuse()
		return only.Transport().RoundTrip(r)
	}
	return c.inner.RoundTrip(r)
}

func (c *counting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the attempt was cut off
	}
	c.mu.Lock()
	failing := c.attempts[r.URL.Path] <= c.fails
	if c.answered[r.URL.Path] {
		c.tally.doubled++
	}
	c.answered[r.URL.Path] = !failing || c.fault.final
	c.mu.Unlock()
	if failing {
		c.fault.do(w, r)
		return
	}
	respond(http.StatusOK, "answer to "+string(body))(w, r)
}

// send sends a request and checks what comes back.
func (c *counting) send(t *testing.T, id, body string) {
	t.Helper()
	method := http.MethodGet
	if body != "" {
		method = http.MethodPut
	}
	got := exchange(roundTripFunc(c.client.Do), newRequest(t.Context(), t, method, "http://service"+id, body))
	last := c.fails == 3 || c.fault.final
	answered := !last || c.fault.final
	if last && c.fault.status == 0 {
		require.Error(t, got.err)
	} else {
		require.NoError(t, got.err)
		c.requireReply(t, got, last, body)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	attempts := c.fails + 1
	switch {
	case c.fault.final:
		attempts = 1
	case last:
		attempts = 3
	}
	require.Equal(t, attempts, c.attempts[id], "attempts")
	require.Equal(t, answered, c.answered[id])
	c.tally.requests++
	if answered {
		c.tally.answered++
	} else {
		c.tally.failed++
	}
}

func (c *counting) requireReply(t *testing.T, got reply, last bool, body string) {
	t.Helper()
	if !last {
		require.NoError(t, got.bodyErr)
		require.Equal(t, http.StatusOK, got.status)
		require.Equal(t, "answer to "+body, got.body)
		return
	}
	require.Equal(t, c.fault.status, got.status)
	if c.fault.cut {
		require.ErrorIs(t, got.bodyErr, syscall.ECONNRESET)
	}
}

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
		{name: "Retry-After without measure", status: 503, final: true, do: respond(503, "", "Retry-After", "99999999999999999999"), reusable: true},
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
