package sdktest

import (
	"context"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/config"
)

// rival is one of the four that are compared.
type rival struct {
	name string
	mode config.Mode
	ours bool
}

var rivals = []rival{
	{"aws-sdk-go-v2, standard", awsretry.ModeStandard, false},
	{"aws-sdk-go-v2, adaptive", awsretry.ModeAdaptive, false},
	{"awsretry, standard", awsretry.ModeStandard, true},
	{"awsretry, adaptive", awsretry.ModeAdaptive, true},
}

// adapts reports whether it is awsretry in adaptive mode, of which most is required.
func (r rival) adapts() bool { return r.ours && r.mode == awsretry.ModeAdaptive }

func (r rival) config(t *testing.T, client aws.HTTPClient) aws.Config {
	t.Helper()
	if r.ours {
		return installed(t, client, hermetic(awsretry.WithMode(r.mode)))
	}
	cfg := configFor(client)
	if r.mode == awsretry.ModeAdaptive {
		shared := exactAdaptive{sdkretry.NewAdaptiveMode()}
		cfg.Retryer = func() aws.Retryer { return shared } // by all clients, as our strategy is
	}
	return cfg
}

// limitOf allows a rate with a burst.
type limitOf struct {
	rate, burst float64

	mu               sync.Mutex // guards all below
	tokens           float64
	at               time.Time
	allowed, refused int
}

// take takes up to n tokens.
func (b *limitOf) take(n int) (taken int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if b.at.IsZero() {
		b.tokens = b.burst
	} else {
		b.tokens = min(b.burst, b.tokens+b.rate*now.Sub(b.at).Seconds())
	}
	b.at = now
	taken = min(n, int(b.tokens+1e-9))
	b.tokens -= float64(taken)
	b.allowed, b.refused = b.allowed+taken, b.refused+n-taken
	return taken
}

// forget begins to count anew.
func (b *limitOf) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.allowed, b.refused = 0, 0
}

// crew are workers that call again and again, and what became of their calls after the warm-up.
type crew struct {
	workers int
	between time.Duration // from the end of a call to the next one
	call    func(ctx context.Context) error

	mu                sync.Mutex // guards all below
	succeeded, failed int
	took              []time.Duration
	ends              []time.Duration // of the successes, those of the warm-up too, since the start
}

// work lets crews call for a time after a warm-up, with a function in between.
func work(t *testing.T, warmUp, length time.Duration, warm func(), crews ...*crew) {
	t.Helper()
	// This is no deadline, because a call that cannot end before one is refused at once.
	ctx, cancel := context.WithCancel(t.Context())
	start := time.Now()
	var all sync.WaitGroup
	for _, c := range crews {
		for range c.workers {
			all.Go(func() { c.work(ctx, start, warmUp) })
		}
	}
	pause(warmUp)
	warm()
	pause(length)
	cancel()
	all.Wait()
}

func (c *crew) work(ctx context.Context, start time.Time, warmUp time.Duration) {
	for ; ctx.Err() == nil; sleep(ctx, c.between) {
		began := time.Now()
		err := c.call(ctx)
		if ctx.Err() != nil {
			return
		}
		c.mu.Lock()
		if err == nil {
			c.ends = append(c.ends, time.Since(start))
		}
		switch {
		case began.Sub(start) < warmUp:
		case err == nil:
			c.succeeded++
			c.took = append(c.took, time.Since(began))
		default:
			c.failed++
		}
		c.mu.Unlock()
	}
}

func (c *crew) p99() time.Duration {
	slices.Sort(c.took)
	if len(c.took) == 0 {
		return 0
	}
	return c.took[len(c.took)*99/100]
}

func (c *crew) failedShare() float64 { return float64(c.failed) / float64(c.failed+c.succeeded) }

// requireFigures holds that a page of docs has these figures where the pattern finds numbers, within the factor by which chance
// makes runs differ, or a half. NaN is not compared.
func requireFigures(t *testing.T, page, pattern string, factor float64, figures ...float64) {
	t.Helper()
	text, err := os.ReadFile("../../docs/" + page)
	require.NoError(t, err)
	number := `([\d.]+)`
	found := regexp.MustCompile(strings.ReplaceAll(regexp.QuoteMeta(pattern), "N", number)).FindStringSubmatch(strings.ReplaceAll(string(text), "\n", " "))
	require.Len(t, found, 1+len(figures), "%s has no %q", page, pattern)
	for i, figure := range figures {
		shown, err := strconv.ParseFloat(found[1+i], 64)
		require.NoError(t, err)
		near := math.IsNaN(figure) || shown <= figure*factor+0.5 && figure <= shown*factor+0.5
		require.True(t, near, "%s has %v for %.3g in %q", page, shown, figure, found[0])
	}
}
