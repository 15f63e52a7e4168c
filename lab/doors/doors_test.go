package doors

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/hashicorp/go-retryablehttp"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/internal/wire"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

var update = flag.Bool("update", false, "write the tables of the pages")

// short is the longest backoff of all doors, so that the test takes no longer than its hints.
const short = time.Millisecond

// door opens a client on a base, whose calls return how they ended.
type door struct {
	name string
	open func(t *testing.T, base http.RoundTripper, url string, opts ...awsretry.Option) (call func(ctx context.Context) error)
}

const plainSDK = "plain SDK"

func doors() []door {
	return []door{
		{"`retry.Do`", viaDo},
		{"`httpretry` GET", viaHTTP(http.MethodGet, nil)},
		{"POST", viaHTTP(http.MethodPost, func() io.Reader { return strings.NewReader("{}") })},
		{"POST without `GetBody`", viaHTTP(http.MethodPost, func() io.Reader { return io.MultiReader(strings.NewReader("{}")) })},
		{"`awssdk`", func(t *testing.T, base http.RoundTripper, url string, opts ...awsretry.Option) func(context.Context) error {
			t.Helper()
			cfg := configOf(base, url)
			require.NoError(t, awssdk.Install(&cfg, awssdk.WithSettings(hermetic(opts)...)))
			return viaSDK(cfg)
		}},
		{plainSDK, func(_ *testing.T, base http.RoundTripper, url string, _ ...awsretry.Option) func(context.Context) error {
			cfg := configOf(base, url)
			cfg.Retryer = func() aws.Retryer {
				return sdkretry.NewStandard(func(o *sdkretry.StandardOptions) { o.MaxBackoff = short })
			}
			return viaSDK(cfg)
		}},
		{"go-retryablehttp", viaRetryable},
	}
}

func hermetic(opts []awsretry.Option) []awsretry.Option {
	return append([]awsretry.Option{
		awsretry.WithSources(awsretry.Sources{LookupEnv: func(name string) (string, bool) { return "/nowhere", name == "HOME" }}),
		awsretry.WithStandard(standard.Config{Base: short, ThrottlingBase: short}),
	}, opts...)
}

func strategy(t *testing.T, opts []awsretry.Option) retry.Strategy {
	t.Helper()
	s, err := awsretry.Load(t.Context(), hermetic(opts)...)
	require.NoError(t, err)
	return s
}

// answerError is an answer as a function of a user reports it.
type answerError struct{ *http.Response }

func (e answerError) Error() string          { return e.Status }
func (e answerError) HTTPStatusCode() int    { return e.StatusCode }
func (e answerError) ErrorCode() string      { return e.Header.Get("X-Amzn-ErrorType") }
func (e answerError) RetryAfterInFull() bool { return true }

func (e answerError) RetryAfter() (time.Duration, bool) {
	return wire.ParseRetryAfter(e.Header.Get("Retry-After"), time.Now)
}

func viaDo(t *testing.T, base http.RoundTripper, url string, opts ...awsretry.Option) func(context.Context) error {
	t.Helper()
	client, s := &http.Client{Transport: base}, strategy(t, opts)
	return func(ctx context.Context) error {
		return retry.DoErr(ctx, s, retry.Operation{}, func(ctx context.Context) error {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
			if err != nil {
				return err
			}
			return readAll(func() (*http.Response, error) { return client.Do(r) })
		})
	}
}

func viaHTTP(method string, body func() io.Reader) func(*testing.T, http.RoundTripper, string, ...awsretry.Option) func(context.Context) error {
	return func(t *testing.T, base http.RoundTripper, url string, opts ...awsretry.Option) func(context.Context) error {
		t.Helper()
		transport, err := httpretry.New(httpretry.Config{Strategy: strategy(t, opts), Base: base})
		require.NoError(t, err)
		return func(ctx context.Context) error {
			var from io.Reader
			if body != nil {
				from = body()
			}
			r, err := http.NewRequestWithContext(ctx, method, url, from)
			if err != nil {
				return err
			}
			return readAll(func() (*http.Response, error) { return (&http.Client{Transport: transport}).Do(r) })
		}
	}
}

func viaRetryable(_ *testing.T, base http.RoundTripper, url string, _ ...awsretry.Option) func(context.Context) error {
	client := retryablehttp.NewClient()
	client.HTTPClient = &http.Client{Transport: base}
	client.Logger, client.RetryWaitMin, client.RetryWaitMax, client.RetryMax = nil, short, short, 2
	return func(ctx context.Context) error {
		r, err := retryablehttp.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		return readAll(func() (*http.Response, error) { return client.Do(r) })
	}
}

func configOf(base http.RoundTripper, url string) aws.Config {
	return aws.Config{
		Region: "eu-central-1", Credentials: credentials.NewStaticCredentialsProvider("AKID", "SECRET", ""),
		HTTPClient: &http.Client{Transport: base}, BaseEndpoint: &url,
	}
}

func viaSDK(cfg aws.Config) func(context.Context) error {
	client := dynamodb.NewFromConfig(cfg)
	return func(ctx context.Context) error {
		_, err := client.ListTables(ctx, &dynamodb.ListTablesInput{})
		return err
	}
}

// readAll makes a call and reads the answer to its end. One that is not a success is an error.
func readAll(call func() (*http.Response, error)) error {
	response, err := call()
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode < http.StatusBadRequest {
		return err
	}
	return answerError{response}
}

// cell is what became of a call.
type cell struct {
	attempts int64
	through  bool
}

// String says whether the call was retried; of any other number of attempts than that takes, how it ended.
func (c cell) String() string {
	switch c {
	case cell{2, true}:
		return "yes"
	case cell{1, false}:
		return "no"
	}
	return fmt.Sprintf("%d, succeeded: %t", c.attempts, c.through)
}

// counting counts the attempts of a door.
type counting struct {
	http.RoundTripper

	attempts atomic.Int64
}

func (c *counting) RoundTrip(r *http.Request) (*http.Response, error) {
	c.attempts.Add(1)
	return c.RoundTripper.RoundTrip(r)
}

// play makes one call through the door, whose first attempt meets the failure.
func play(t *testing.T, d door, f failure) cell {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if f.deadline > 0 {
		limited, end := context.WithTimeout(ctx, f.deadline)
		defer end()
		ctx = limited
	}
	base, url := f.make(t, cancel)
	counted := &counting{RoundTripper: base}
	err := d.open(t, counted, url)(ctx)
	return cell{counted.attempts.Load(), err == nil}
}

// TestDoors compares the table on the page with what it plays, or writes it. Failures that end alike at every door share a
// row, and one whose cells differ says why.
func TestDoors(t *testing.T) {
	t.Parallel()
	all, through := failures(), doors()
	cells := make([][]cell, len(all))
	t.Run("play", func(t *testing.T) {
		for i, f := range all {
			cells[i] = make([]cell, len(through))
			for k, d := range through {
				t.Run(f.name+"/"+d.name, func(t *testing.T) {
					t.Parallel()
					cells[i][k] = play(t, d, f)
				})
			}
		}
	})
	var lines []string
	header, rule := "| first attempt |", "|---|"
	for _, d := range through {
		header, rule = header+" "+d.name+" |", rule+"---|"
	}
	lines = append(lines, header+" why they differ |", rule+"---|")
	var ends []string // of the rows, each once
	named := map[string][]string{}
	for i, f := range all {
		differ := len(slices.Compact(slices.Clone(cells[i]))) > 1
		require.Equal(t, differ, f.why != "", "%s: %v: a reason where the doors differ, and only there", f.name, cells[i])
		var line strings.Builder
		for _, c := range cells[i] {
			line.WriteString(" | " + c.String())
		}
		end := line.String() + " | " + f.why + " |"
		if named[end] == nil {
			ends = append(ends, end)
		}
		named[end] = append(named[end], f.name)
	}
	for _, end := range ends {
		lines = append(lines, "| "+strings.Join(named[end], "; ")+end)
	}
	requireOnPage(t, "classification.md", "| first attempt |", lines)
}

// requireOnPage compares the table whose first cell is given with that of a page, or writes it.
func requireOnPage(t *testing.T, page, header string, lines []string) {
	t.Helper()
	page = filepath.Join("../../docs", page)
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	on := strings.Split(string(text), "\n")
	first := slices.IndexFunc(on, func(line string) bool { return strings.HasPrefix(line, header) })
	require.GreaterOrEqual(t, first, 0, "no line of %s begins as %q", page, header)
	last := first
	for strings.HasPrefix(on[last], "|") {
		last++
	}
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(strings.Join(slices.Replace(on, first, last, lines...), "\n")), 0o600))
		return
	}
	require.Equal(t, strings.Join(lines, "\n"), strings.Join(on[first:last], "\n"), "go test . -update writes it again")
}
