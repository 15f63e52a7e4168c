//go:build !race

package telemetry_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// tool returns the path of promtool or prometheus. It skips a test where there is none, but not in continuous integration.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		path, err = filepath.Abs(filepath.Join("../../.bin/prometheus/usr/bin", name)) // of lab/scripts/prometheus
		require.NoError(t, err)
		_, err = os.Stat(path)
	}
	if err != nil && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	require.NoError(t, err)
	return path
}

func TestAlertsFireWhenTheyShould(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), tool(t, "promtool"), "test", "rules", "alerts_test.yml").CombinedOutput()
	require.NoError(t, err, "%s", out)
}

func TestEachAlertSaysWhatItMeansAndWhatToDo(t *testing.T) {
	t.Parallel()
	rules, err := os.ReadFile("../../metrics/alerts.yml")
	require.NoError(t, err)
	page, err := os.ReadFile("../../docs/observing.md")
	require.NoError(t, err)
	_, runbooks, found := strings.Cut(string(page), "\n## A dashboard and alerts\n")
	require.True(t, found)
	runbooks, _, _ = strings.Cut(runbooks, "\n## ")
	sections := map[string]string{}
	for _, section := range strings.Split(runbooks, "\n### ")[1:] {
		name, text, _ := strings.Cut(section, "\n\n")
		sections[name] = text
	}
	alerts := strings.Split(string(rules), "- alert: ")[1:]
	require.Len(t, sections, len(alerts))
	for _, text := range alerts {
		name, _, _ := strings.Cut(text, "\n")
		severity := regexp.MustCompile(`severity: (\w+)`).FindStringSubmatch(text)
		require.Len(t, severity, 2, name)
		require.True(t, strings.HasPrefix(sections[name], "**"+severity[1]+"**: "), name)
		require.Contains(t, text, "runbook_url: https://github.com/awsretry/awsretry/blob/main/docs/observing.md#"+strings.ToLower(name)+"\n")
		require.Regexp(t, `dashboard_url: https://\S+/d/awsretry\?var-cluster=\{\{ \$labels\.cluster \}\}&var-namespace=`, text)
		for _, word := range []string{"\n- **Look at** ", "\n- **Do** ", "\n- **Ignore** it "} {
			require.Contains(t, sections[name], word, name)
		}
	}
	panels := map[string]bool{}
	for _, p := range read(t).Panels {
		panels[p.Title] = true
	}
	for _, found := range regexp.MustCompile(`[^*]\*([A-Z][^*]+)\*[^*]`).FindAllStringSubmatch(runbooks, -1) {
		require.True(t, panels[strings.Join(strings.Fields(found[1]), " ")], "no panel %q", found[1])
	}
}

func TestEachAlertIsAboutAJob(t *testing.T) {
	t.Parallel()
	rules, err := os.ReadFile("../../metrics/alerts.yml")
	require.NoError(t, err)
	groups := regexp.MustCompile(`\bby \(([^)]*)\)`).FindAllStringSubmatch(string(rules), -1)
	for _, group := range groups {
		require.Regexp(t, `^cluster, namespace, job\b`, group[1])
	}
	require.Len(t, regexp.MustCompile(`\b(sum|count|min|max|avg) (by|without)? ?\(`).FindAllString(string(rules), -1), len(groups))
}
