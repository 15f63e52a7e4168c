//go:build browser

// Package browser opens the reports of awsretry simulate in a headless Chromium, checks that they work there without a
// network, and takes the pictures of docs/simulate.md. It needs a browser: make browser runs it.
package browser_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// reports are the reports that the tests open. The other flags of the command have their defaults.
var reports = []struct {
	name, flags string
	pictures    []picture
}{
	{"v20-or-v21", "--vs v2.0 --fail 0.25 --limit 500 --offered 100", []picture{
		{"v20-or-v21", "figure[aria-labelledby=curve]", 800},
	}},
	{"standard-or-adaptive", "--vs adaptive --vs adaptive,max_elapsed=2s", []picture{
		{"standard-or-adaptive", "figure[aria-labelledby=latency]", 1000},
	}},
	{"ten-attempts", "--vs max_attempts=5 --vs max_attempts=10 --vs v2.0,max_attempts=10 --vs adaptive,deadline=5s --outage 2m --limit 500 --offered 100", nil},
	{"storm", "--queue --workers 0 --clients 100 --limit 100 --offered 80 --timeout 1s --phase 30s:limit=0 --phase 40s:limit=1x " +
		"--duration 400s --seed 1 --vs quota_capacity=14", []picture{
		{"storm", "figure[aria-labelledby=troubles]", 1000},
	}},
	{"clients", "--clients 100 --workers 1", nil},
	{"overload", "--vs adaptive --workers 0 --limit 200 --offered 240", []picture{
		{"overload", "figure[aria-labelledby=troubles]", 1000},
	}},
	{"deadline", "--vs adaptive --vs adaptive,deadline=1s", nil},
}

// A picture is a part of a report that docs/simulate.md shows, as docs/pictures/simulate-NAME.png.
type picture struct {
	name, selector string
	width          int64 // of the page, in pixels
}

// TestReports writes each report to out, with a picture of each view and its pages on paper for people to look at.
func TestReports(t *testing.T) {
	require.NoError(t, os.MkdirAll("out", 0o755))
	program := build(t)
	browser := start(t)
	axe := axeCore(t)
	for _, report := range reports {
		t.Run(report.name, func(t *testing.T) {
			file := filepath.Join("out", report.name+".html")
			simulate(t, program, report.flags, file)
			for _, scheme := range []string{"light", "dark"} {
				for _, width := range []int64{phone, desk} {
					tab, wrong := visit(t, browser, file, view{scheme, width})
					require.Empty(t, wrong, "%s, %d pixels", scheme, width)
					require.Empty(t, inaccessible(t, tab, axe), "%s, %d pixels", scheme, width)
					png, err := chromedp.Run(tab, chromedp.FullScreenshot(100))
					require.NoError(t, err)
					name := fmt.Sprintf("%s-%s-%d.png", report.name, scheme, width)
					require.NoError(t, os.WriteFile(filepath.Join("out", name), png, 0o644))
				}
			}
			tab, wrong := visit(t, browser, file, view{"dark", desk})
			require.Empty(t, wrong, "on paper")
			paper, err := chromedp.Call(tab, page.PrintToPDF, page.PrintToPDFParams{PrintBackground: new(true)})
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join("out", report.name+".pdf"), paper.Data, 0o644))
			for _, p := range report.pictures {
				tab, wrong := visit(t, browser, file, view{"light", p.width})
				require.Empty(t, wrong, p.name)
				png := p.take(t, tab)
				require.Less(t, len(png), 80<<10, "%s: too large for the repository", p.name)
				path := filepath.Join("..", "..", "..", "docs", "pictures", "simulate-"+p.name+".png")
				require.NoError(t, os.WriteFile(path, png, 0o644))
			}
		})
	}
}

// axeCore returns the script of axe-core, which finds what people with a screen reader or weak eyes stumble over.
func axeCore(t *testing.T) string {
	t.Helper()
	path, err := exec.CommandContext(t.Context(), filepath.Join("..", "..", "scripts", "axe")).Output()
	require.NoError(t, err, "lab/scripts/axe")
	script, err := os.ReadFile(strings.TrimSpace(string(path)))
	require.NoError(t, err)
	return string(script)
}

// inaccessible returns the findings of axe-core on a page.
func inaccessible(t *testing.T, tab context.Context, axe string) string {
	t.Helper()
	_, err := chromedp.Run(tab, chromedp.Evaluate[bool](axe+"; document.querySelectorAll('details').forEach(d => d.open = true); true"))
	require.NoError(t, err)
	found, err := chromedp.Run(tab, chromedp.Evaluate[string](`axe.run().then(r => {
		document.querySelectorAll("details").forEach(d => d.open = false);
		return r.violations.map(v => v.id + ": " + v.help + ": " + v.nodes[0].html).join("\n");
	})`, chromedp.EvalAwaitPromise))
	require.NoError(t, err)
	return found
}

// take takes the picture with a margin.
func (p picture) take(t *testing.T, tab context.Context) []byte {
	t.Helper()
	cut, err := chromedp.Run(tab, chromedp.Evaluate[bool](fmt.Sprintf(`{
		const part = document.querySelector(%q)
		part.style.padding = "4px 12px 8px";
		dispatchEvent(new Event("resize"));
		[part, ...part.querySelectorAll("div")].some(e => e.checkVisibility() && e.scrollWidth > e.clientWidth)
	}`, p.selector)))
	require.NoError(t, err, p.selector)
	require.False(t, cut, "%s: %d pixels are too few: the page scrolls %s", p.name, p.width, p.selector)
	png, err := chromedp.Run(tab, chromedp.Screenshot(chromedp.CSS(p.selector)))
	require.NoError(t, err, p.selector)
	return png
}

// build builds awsretry.
func build(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "awsretry")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-C", filepath.Join("..", "..", "..", "cmd", "awsretry"), "-o", program, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}

// simulate writes a report. The environment is empty but for files of settings that do not exist.
func simulate(t *testing.T, program, flags, file string) {
	t.Helper()
	absent := filepath.Join(t.TempDir(), "absent")
	command := exec.CommandContext(t.Context(), program, append(strings.Fields("simulate "+flags), "-o", file)...)
	command.Env = []string{"AWS_CONFIG_FILE=" + absent, "AWS_SHARED_CREDENTIALS_FILE=" + absent}
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s: %s", flags, out)
}
