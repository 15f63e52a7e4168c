package doors

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// loseAll has so many calls in flight when all connections are lost, and a service that is well. It returns how many calls
// fail and how many requests are made. No second attempt gets its answer until all others are there or given up, so that no
// success pays for them.
func loseAll(t *testing.T, d door, calls int, http2 bool, opts ...awsretry.Option) (failed, requests int64) {
	t.Helper()
	var seen, decided, bad atomic.Int64
	all := make(chan struct{})
	decide := func() {
		if decided.Add(1) == int64(calls) {
			close(all)
		}
	}
	var server *httptest.Server
	server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		switch n := seen.Add(1); {
		case n > int64(calls):
			decide()
			<-all
		case n == int64(calls):
			go server.CloseClientConnections()
			fallthrough
		case n > 0:
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		_, _ = io.WriteString(w, "{}")
	}))
	var protocols http.Protocols
	protocols.SetHTTP1(!http2)
	protocols.SetUnencryptedHTTP2(http2)
	server.Config.Protocols, server.Config.HTTP2 = &protocols, &http.HTTP2Config{MaxConcurrentStreams: calls}
	server.Start()
	defer server.Close()
	base := &http.Transport{Protocols: &protocols, MaxIdleConnsPerHost: calls}
	defer base.CloseIdleConnections()
	call := d.open(t, base, server.URL, opts...)
	seen.Store(-1)
	require.NoError(t, call(t.Context())) // over HTTP/2, its connection is that of all
	var wg sync.WaitGroup
	for range calls {
		wg.Go(func() {
			if call(t.Context()) != nil {
				bad.Add(1)
				decide()
			}
		})
	}
	wg.Wait()
	return bad.Load(), seen.Load()
}

// TestOneLostConnectionFailsNoCall compares the table of the page with what it plays, or writes it: the calls that fail, of those that
// were in flight when all connections were lost.
func TestOneLostConnectionFailsNoCall(t *testing.T) {
	t.Parallel()
	var through []door
	lines := []string{"| in flight |", "|---|"}
	for _, d := range doors() {
		if strings.HasPrefix(d.name, "POST") {
			continue // which may have run
		}
		through = append(through, d)
		lines[0], lines[1] = lines[0]+" "+d.name+" |", lines[1]+"---|"
	}
	for _, row := range []struct {
		calls int
		http2 bool
	}{{60, false}, {60, true}, {100, true}, {200, true}, {1000, true}} {
		cells := []string{fmt.Sprintf("| %d over HTTP/%s |", row.calls, map[bool]string{false: "1.1", true: "2"}[row.http2])}
		for _, d := range through {
			failed, requests := loseAll(t, d, row.calls, row.http2)
			require.EqualValues(t, 2*row.calls, requests+failed, d.name)
			cells = append(cells, fmt.Sprintf("%d |", failed))
		}
		lines = append(lines, strings.Join(cells, " "))
	}
	requireOnPage(t, "modes.md", "| in flight |", lines)
}

func TestOneLostConnectionFailsNoCallInAnyMode(t *testing.T) {
	t.Parallel()
	for _, d := range doors() {
		if !strings.HasPrefix(d.name, "`") {
			continue
		}
		for _, mode := range []awsretry.Mode{awsretry.ModeStandard, awsretry.ModeAdaptive} {
			for _, behavior := range []retry.Behavior{retry.V20, retry.V21} {
				t.Run(fmt.Sprint(d.name, " ", mode, " ", behavior), func(t *testing.T) {
					t.Parallel()
					failed, requests := loseAll(t, d, 150, true, awsretry.WithMode(mode),
						awsretry.WithStandard(standard.Config{Base: short, ThrottlingBase: short, Behavior: behavior}))
					require.Zero(t, failed)
					require.EqualValues(t, 300, requests)
				})
			}
		}
	}
}
