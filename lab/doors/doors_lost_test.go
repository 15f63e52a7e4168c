package doors

import (
	"fmt"
	"image/color"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/lab/pictures"
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

// TestOneLostConnectionFailsNoCall loses all connections with so many calls in flight. It compares the calls of the plain SDK that
// fail with the picture of the page, or draws it.
func TestOneLostConnectionFailsNoCall(t *testing.T) {
	t.Parallel()
	inFlight := []int{60, 100, 200, 1000}
	var failures []int64
	var lost []string
	for _, d := range doors() {
		if strings.HasPrefix(d.name, "POST") {
			continue // which may have run
		}
		over1, requests := loseAll(t, d, inFlight[0], false)
		require.Equal(t, 2*int64(inFlight[0]), requests+over1, d.name)
		for i, calls := range inFlight {
			failed, requests := loseAll(t, d, calls, true)
			require.Equal(t, 2*int64(calls), requests+failed, d.name)
			if i == 0 {
				require.Equal(t, failed, over1, d.name)
			}
			if d.name == plainSDK {
				failures, lost = append(failures, failed), append(lost, strconv.FormatInt(failed, 10))
			} else {
				require.Zero(t, failed, d.name)
			}
		}
	}
	pictures.Picture{
		Name: "lost", Height: 178,
		Alt: fmt.Sprintf("One HTTP/2 connection is lost. Of 60, 100, 200 and 1000 calls in flight, %s and %s fail with the SDK, and none with "+
			"awsretry.", strings.Join(lost[:3], ", "), lost[3]),
		Draw: func(c pictures.Canvas) error {
			drawLost(c, inFlight, failures)
			return nil
		},
	}.Require(t, "../../docs/modes.md", 0, *update)
}

// drawLost draws the calls that fail, and those that do not, with the plain SDK and with awsretry.
func drawLost(c pictures.Canvas, inFlight []int, failed []int64) {
	const left, width, height, top, row = 70, 115, 16, 132, 28
	right := c.Style()
	right.XAlign = text.XRight
	c.FillText(right, vg.Point{X: left - 12, Y: top + 30}, "in flight")
	for i, name := range []string{"aws-sdk-go-v2 v" + aws.SDKVersion, "awsretry"} {
		x := vg.Length(left + 210*i)
		c.FillText(c.Style(), vg.Point{X: x, Y: top + 30}, name)
		for j, calls := range inFlight {
			y := vg.Length(top - j*row)
			bad := failed[j]
			if name == "awsretry" {
				bad = 0
			}
			if i == 0 {
				c.FillText(right, vg.Point{X: x - 12, Y: y}, strconv.Itoa(calls))
			}
			share := vg.Length(bad) / vg.Length(calls)
			c.FillPolygon(c.Good, pictures.Box(vg.Point{X: x, Y: y - height/2}, width, height))
			c.FillPolygon(c.Bad, pictures.Box(vg.Point{X: x, Y: y - height/2}, width*share, height))
			c.FillText(c.Style(), vg.Point{X: x + width + 8, Y: y}, fmt.Sprintf("%d fail", bad))
		}
	}
	c.Key([]string{"succeed", "fail"}, []color.Color{c.Good, c.Bad})
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
