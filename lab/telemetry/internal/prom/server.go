package prom

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/awsretry/awsretry/clock"
)

// patience is how long a server may take to begin and to end, and a scrape to come.
const patience = 30 * time.Second

// Server is a Prometheus that listens on a free port of the loopback interface.
type Server struct {
	url  string
	stop func() error
}

// Start starts a server whose data is in dir/data. It scrapes target, which is host:port, each second; an empty target
// is none. The server runs until Stop, also after the end of ctx.
func (t Tools) Start(ctx context.Context, dir, target string) (*Server, error) {
	config := "scrape_configs: []\n"
	if target != "" {
		config = "scrape_configs: [{job_name: test, scrape_interval: 1s, scrape_timeout: 1s, static_configs: [{targets: ['" +
			target + "']}]}]\n"
	}
	file := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		return nil, err
	}
	// The consoles are pages; those of an installation are not wanted.
	none := filepath.Join(dir, "none")
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	cmd := exec.CommandContext(running, t.Prometheus, "--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--storage.tsdb.retention.time=100y", "--web.listen-address=127.0.0.1:0",
		// Imported series have no mark at their end, so that the last value would last for the usual five minutes.
		"--query.lookback-delta=1m",
		"--web.console.templates="+none, "--web.console.libraries="+none)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = patience
	log, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		stop()
		return nil, err
	}
	s := &Server{stop: func() error {
		stop()
		if err := cmd.Wait(); !errors.Is(err, context.Canceled) {
			return err
		}
		return nil
	}}
	address, err := listening(log)
	if err != nil {
		return nil, errors.Join(err, s.stop())
	}
	s.url = "http://" + address
	err = Until(ctx, func() (bool, error) {
		_, err := s.get(ctx, "/-/ready", nil)
		return err == nil, nil
	})
	if err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

// Stop ends the server and waits for its end.
func (s *Server) Stop() error { return s.stop() }

// listening reads the log until it names the address, and the rest in the background.
func listening(log io.Reader) (address string, err error) {
	line := regexp.MustCompile(`msg="?(?:Listening on|TLS is disabled\.)"?.* address=(127\.0\.0\.1:\d+)`)
	lines := bufio.NewScanner(log)
	var said strings.Builder
	for lines.Scan() {
		if found := line.FindStringSubmatch(lines.Text()); found != nil {
			go func() { _, _ = io.Copy(io.Discard, log) }()
			return found[1], nil
		}
		said.WriteString(lines.Text() + "\n")
	}
	return "", errors.Join(fmt.Errorf("prom: prometheus does not listen:\n%s", said.String()), lines.Err())
}

// Until asks again and again until done is true, for a bounded time.
func Until(ctx context.Context, done func() (bool, error)) error {
	ctx, cancel := clock.WithTimeout(ctx, clock.System{}, patience)
	defer cancel()
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		if err := (clock.System{}).Sleep(ctx, 50*time.Millisecond); err != nil {
			return fmt.Errorf("prom: not within %s: %w", patience, err)
		}
	}
}

// Series is a result of a query: its labels, and its values with their instants.
type Series struct {
	Labels map[string]string
	Values []Value
}

// Value is a number at an instant.
type Value struct {
	At    time.Time
	Value float64
}

// Query evaluates an expression at an instant.
func (s *Server) Query(ctx context.Context, expr string, at time.Time) ([]Series, error) {
	return s.query(ctx, "/api/v1/query", url.Values{"query": {expr}, "time": {seconds(at)}})
}

// QueryRange evaluates an expression at each step from begin to end.
func (s *Server) QueryRange(ctx context.Context, expr string, begin, end time.Time, step time.Duration) ([]Series, error) {
	return s.query(ctx, "/api/v1/query_range", url.Values{
		"query": {expr}, "start": {seconds(begin)}, "end": {seconds(end)}, "step": {strconv.FormatFloat(step.Seconds(), 'g', -1, 64)},
	})
}

func seconds(t time.Time) string { return strconv.FormatFloat(float64(t.UnixMilli())/1000, 'f', 3, 64) }

func (s *Server) query(ctx context.Context, path string, values url.Values) ([]Series, error) {
	body, err := s.get(ctx, path, values)
	if err != nil {
		return nil, fmt.Errorf("prom: %w in the query %s", err, values.Get("query"))
	}
	var answer struct {
		Data struct {
			Result []struct {
				Metric map[string]string
				Value  *pair
				Values []pair
			}
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, err
	}
	var all []Series
	for _, r := range answer.Data.Result {
		if r.Value != nil {
			r.Values = append(r.Values, *r.Value)
		}
		one := Series{Labels: r.Metric}
		for _, v := range r.Values {
			one.Values = append(one.Values, Value(v))
		}
		all = append(all, one)
	}
	return all, nil
}

// pair is how Prometheus writes a value: [seconds, "number"].
type pair Value

func (p *pair) UnmarshalJSON(text []byte) error {
	var at float64
	var number string
	err := json.Unmarshal(text, &[]any{&at, &number})
	if err != nil {
		return err
	}
	p.At = time.UnixMilli(int64(at*1000 + 0.5)).UTC()
	p.Value, err = strconv.ParseFloat(number, 64)
	return err
}

func (s *Server) get(ctx context.Context, path string, values url.Values) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path+"?"+values.Encode(), nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %s", response.StatusCode, body)
	}
	return body, err
}
