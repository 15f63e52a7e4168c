//go:build long

package telemetry_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/lab/telemetry/internal/prom"
	"github.com/awsretry/awsretry/lab/telemetry/internal/record"
)

// endOfTheOutage serves what promretry showed at the end of the outage.
func endOfTheOutage(t *testing.T) *httptest.Server {
	t.Helper()
	r := recording(t)
	server := httptest.NewServer(promhttp.HandlerFor(
		prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) { return r.End, nil }), promhttp.HandlerOpts{}))
	t.Cleanup(server.Close)
	return server
}

// scrape returns the text that a server shows.
func scrape(t *testing.T, server *httptest.Server) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/metrics", nil)
	require.NoError(t, err)
	response, err := server.Client().Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return string(text)
}

func TestSimulatedOutageScraped(t *testing.T) {
	t.Parallel()
	golden(t, "testdata/scrape.txt", scrape(t, endOfTheOutage(t)))
}

func TestSimulatedOutageIsInPrometheus(t *testing.T) {
	t.Parallel()
	program := tools(t)
	service := endOfTheOutage(t)
	server, err := program.Start(t.Context(), t.TempDir(), strings.TrimPrefix(service.URL, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })

	var scraped []prom.Series
	require.NoError(t, prom.Until(t.Context(), func() (bool, error) {
		scraped, err = server.Query(t.Context(), `{__name__=~"awsretry_.+"}`, clock.System{}.Now())
		return len(scraped) > 0, err
	}))
	var got []string
	for _, s := range scraped {
		name := s.Labels["__name__"]
		for _, of := range []string{"__name__", "job", "instance"} { // not of the program
			delete(s.Labels, of)
		}
		var labels []string
		for n, v := range s.Labels {
			labels = append(labels, fmt.Sprintf("%s=%q", n, v))
		}
		got = append(got, fmt.Sprintf("%s%s %s", name, record.Labels(labels...), record.Number(s.Values[0].Value)))
	}
	slices.Sort(got)

	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(scrape(t, service)))
	require.NoError(t, err)
	var want []string
	for _, f := range families {
		want = append(want, seriesOf(f)...)
	}
	slices.Sort(want)
	require.Equal(t, strings.Join(want, "\n"), strings.Join(got, "\n"))
}

// The golden file has to have something of everything.
func TestSimulatedOutageShowsEachMetricAtItsEnd(t *testing.T) {
	t.Parallel()
	highest := map[string]float64{}
	for _, f := range recording(t).End {
		record.Each(f, func(name, _ string, value float64) { highest[name] = max(highest[name], value) })
	}
	require.Len(t, highest, 5*3+22, "five histograms, and twenty-two other metrics")
	for name, value := range highest {
		require.Positive(t, value, name)
	}
	var text bytes.Buffer
	for _, f := range recording(t).End {
		_, err := expfmt.MetricFamilyToText(&text, f)
		require.NoError(t, err)
	}
	for _, label := range []string{
		`awsretry_scope="(all)"`, `awsretry_scope="other"`, `awsretry_reason="quota"`, `awsretry_reason="deadline"`,
		`awsretry_reason="max_elapsed"`, `awsretry_outcome="not_retryable"`, `error_type="ThrottlingException"`,
		`awsretry_fleet_state="fleet"`,
	} {
		require.Contains(t, text.String(), label)
	}
}

// The page has each metric of the outage with its kind, its labels and a question, and no other one.
func TestSimulatedMetricsAreAllOnThePage(t *testing.T) {
	t.Parallel()
	explained := map[string][2]string{}
	for _, row := range table(t, "metric") {
		require.Len(t, row, 5, row)
		kind, _, _ := strings.Cut(strings.TrimSpace(row[1]), ",")
		explained[strings.Trim(row[0], "` ")] = [2]string{kind, strings.Join(labelsOf(row[2]), " ")}
		require.Regexp(t, `\.$`, strings.TrimSpace(row[3]), row)
		require.Regexp(t, `\?$`, strings.TrimSpace(row[4]), row)
	}
	shown := map[string][2]string{}
	for _, f := range recording(t).End {
		names := []string{}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if !slices.Contains(names, l.GetName()) {
					names = append(names, l.GetName())
				}
			}
		}
		slices.Sort(names)
		kind := map[dto.MetricType]string{
			dto.MetricType_COUNTER: "counter", dto.MetricType_GAUGE: "gauge", dto.MetricType_HISTOGRAM: "histogram",
		}[f.GetType()]
		shown[f.GetName()] = [2]string{kind, strings.Join(names, " ")}
	}
	require.Equal(t, shown, explained)
}
