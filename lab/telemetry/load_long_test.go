//go:build long

package telemetry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/lab/telemetry/load"
	"github.com/awsretry/awsretry/metrics/promretry"
)

const length, every = 6 * time.Minute, 15 * time.Second

// Six minutes of the made-up load, in virtual time, have each metric of the page, and in a real Prometheus each query of
// the dashboard has an answer.
func TestSimulatedLoadFillsThePageAndEachPanel(t *testing.T) {
	t.Parallel()
	families, begin := play(t)

	explained, shown := map[string]string{}, map[string]string{}
	op, scope := []string{"cloud_region", "rpc_method", "rpc_service"}, []string{"awsretry_scope", "cloud_region", "rpc_service"}
	for _, row := range table(t, "metric") {
		require.Regexp(t, `\.$`, row[2])
		kind, named, _ := strings.Cut(row[1], ": ")
		var labels []string
		for label := range strings.SplitSeq(named, ", ") {
			labels = append(labels, map[string][]string{"op": op, "scope": scope}[label]...)
			if strings.HasPrefix(label, "`") {
				labels = append(labels, strings.Trim(label, "`"))
			}
		}
		slices.Sort(labels)
		explained[strings.Trim(row[0], "`")] = strings.TrimSpace(kind + " " + strings.Join(labels, " "))
	}
	var queries strings.Builder
	for _, p := range read(t).Panels {
		for _, target := range p.Targets {
			queries.WriteString(regexp.MustCompile(`\{[^}]*\}|\b(by|on) \([^)]*\)|"[^"]*"`).ReplaceAllString(target.Expr, "") + "\n")
		}
	}
	for name, f := range families {
		labels := []string{}
		for _, l := range f.GetMetric()[0].GetLabel() {
			labels = append(labels, l.GetName())
		}
		shown[name] = strings.TrimSpace(strings.ToLower(f.GetType().String()) + " " + strings.Join(labels, " "))
		require.Regexp(t, `\b`+name+`(_bucket|_count|_sum)?\b`, queries.String(), "no panel shows it")
	}
	require.Equal(t, shown, explained)

	ask := prometheusOf(t, families)
	chosen := strings.NewReplacer("$cluster", ".*", "$namespace", ".*", "$job", ".*", "$service", ".*", "$region", ".*", "$__rate_interval", "1m")
	for _, p := range read(t).Panels {
		for _, target := range p.Targets {
			require.True(t, ask(chosen.Replace(target.Expr), begin), "%s, query %s has no value above zero", p.Title, target.RefID)
		}
	}
}

// play returns the samples of all series by metric, with their times, and the time of the first.
func play(t *testing.T) (families map[string]*dto.MetricFamily, begin time.Time) {
	t.Helper()
	families = map[string]*dto.MetricFamily{}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), length)
		defer cancel()
		metrics, registry := promretry.New(promretry.Config{}), prometheus.NewRegistry()
		registry.MustRegister(metrics)
		done := make(chan error)
		go func() { done <- load.Run(ctx, metrics, metrics.Watch) }()
		for begin = time.Now(); ctx.Err() == nil; _ = (clock.System{}).Sleep(ctx, every) {
			all, err := registry.Gather()
			require.NoError(t, err)
			for _, f := range all {
				for _, m := range f.GetMetric() {
					m.TimestampMs = new(time.Now().UnixMilli())
				}
				if kept := families[f.GetName()]; kept == nil {
					families[f.GetName()] = f
				} else {
					kept.Metric = append(kept.Metric, f.GetMetric()...)
				}
			}
		}
		require.NoError(t, <-done)
	})
	return families, begin
}

// prometheusOf starts a Prometheus with the samples. The function reports whether a query has a value above zero.
func prometheusOf(t *testing.T, families map[string]*dto.MetricFamily) (ask func(query string, begin time.Time) bool) {
	t.Helper()
	dir := t.TempDir()
	var text bytes.Buffer
	for _, f := range families {
		_, err := expfmt.MetricFamilyToOpenMetrics(&text, f)
		require.NoError(t, err)
	}
	_, err := expfmt.FinalizeOpenMetrics(&text)
	require.NoError(t, err)
	samples, config, data := filepath.Join(dir, "samples"), filepath.Join(dir, "prometheus.yml"), filepath.Join(dir, "data")
	require.NoError(t, errors.Join(os.WriteFile(samples, text.Bytes(), 0o600), os.WriteFile(config, []byte("scrape_configs: []\n"), 0o600)))
	out, err := exec.CommandContext(t.Context(), tool(t, "promtool"), "tsdb", "create-blocks-from", "openmetrics", "--quiet", samples, data).CombinedOutput()
	require.NoError(t, err, "%s", out)
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a free port
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	server := exec.CommandContext(context.WithoutCancel(t.Context()), tool(t, "prometheus"), "--config.file="+config, "--storage.tsdb.path="+data,
		"--storage.tsdb.retention.time=100y", "--web.listen-address="+address, "--web.console.templates="+dir, "--web.console.libraries="+dir)
	require.NoError(t, server.Start())
	t.Cleanup(func() { require.NoError(t, errors.Join(server.Process.Signal(os.Interrupt), server.Wait())) })

	get := func(path string, into any) error {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return errors.New(response.Status)
		}
		return json.NewDecoder(response.Body).Decode(into)
	}
	require.Eventually(t, func() bool { var any any; return get("/api/v1/status/buildinfo", &any) == nil }, 30*time.Second, 50*time.Millisecond)
	return func(query string, begin time.Time) bool {
		seconds := func(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }
		var answer struct {
			Data struct{ Result []struct{ Values [][2]any } }
		}
		values := url.Values{
			"query": {query}, "start": {seconds(begin)}, "end": {seconds(begin.Add(length))}, "step": {"15"},
		}
		require.NoError(t, get("/api/v1/query_range?"+values.Encode(), &answer), query)
		for _, series := range answer.Data.Result {
			for _, value := range series.Values {
				if number := fmt.Sprint(value[1]); number != "0" && number != "NaN" {
					return true
				}
			}
		}
		return false
	}
}
