//go:build browser

package browser_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// The widths of a screen, in pixels.
const (
	phone = 400
	desk  = 1400
)

// A view is how a browser shows a page.
type view struct {
	scheme string // "light" or "dark"
	width  int64  // in pixels
}

// start starts Chromium, without a network, and returns the context for its pages.
func start(t *testing.T) context.Context {
	t.Helper()
	find := exec.CommandContext(t.Context(), filepath.Join("..", "..", "scripts", "chromium"))
	find.Stderr = os.Stderr
	path, err := find.Output()
	require.NoError(t, err, "lab/scripts/chromium finds no Chromium")
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(strings.TrimSpace(string(path))),
		chromedp.NoSandbox, // which containers seldom allow; the pages are those of this repository
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND"),
	)
	allocator, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	browser, end := chromedp.NewContext(allocator)
	t.Cleanup(end)
	require.NoError(t, chromedp.Do(browser))
	return browser
}

// visit opens a file in a tab of its own. It returns the context of the tab and what is wrong with the page: each request
// besides the one for the file, each line of the console, and a width above that of the view.
func visit(t *testing.T, browser context.Context, file string, v view) (context.Context, []string) {
	t.Helper()
	tab, end := chromedp.NewContext(browser)
	t.Cleanup(end)
	require.NoError(t, chromedp.Do(tab))
	tab, end = context.WithTimeout(tab, time.Minute)
	t.Cleanup(end)

	path, err := filepath.Abs(file)
	require.NoError(t, err)
	document := (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
	var mu sync.Mutex
	var wrong []string
	requests := 0
	// Chromium sends the events of a page before its answer to the commands that come after them.
	require.NoError(t, chromedp.Listen(tab, func(event any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			if requests++; e.Request.URL != document {
				wrong = append(wrong, "request: "+e.Request.URL)
			}
		case *runtime.EventConsoleAPICalled:
			line := []string{"console:", string(e.Type)}
			for _, arg := range e.Args {
				line = append(line, string(arg.Value))
			}
			wrong = append(wrong, strings.Join(line, " "))
		case *runtime.EventExceptionThrown:
			line := "exception: " + e.ExceptionDetails.Text
			if thrown := e.ExceptionDetails.Exception; thrown != nil {
				line += " " + thrown.Description
			}
			wrong = append(wrong, line)
		case *log.EventEntryAdded:
			wrong = append(wrong, fmt.Sprintf("log: %s: %s: %s", e.Entry.Source, e.Entry.Level, e.Entry.Text))
		}
	}))
	viewport := chromedp.EmulateViewport(v.width, 900)
	if v.width == phone {
		viewport = chromedp.EmulateViewport(v.width, 900, chromedp.EmulateMobile)
	}
	require.NoError(t, chromedp.Do(tab, viewport))
	_, err = chromedp.Call(tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: v.scheme}},
	})
	require.NoError(t, err)
	require.NoError(t, chromedp.Do(tab, chromedp.Navigate(document)))
	width, err := chromedp.Run(tab, chromedp.Evaluate[int64]("document.documentElement.scrollWidth"))
	require.NoError(t, err)

	mu.Lock()
	defer mu.Unlock()
	require.NotZero(t, requests, "Chromium does not tell of requests")
	if width > v.width {
		wrong = append(wrong, fmt.Sprintf("width: %d pixels in a view of %d", width, v.width))
	}
	return tab, wrong
}

const viewport = `<meta name="viewport" content="width=device-width">`

func TestVisitSaysWhatIsWrongWithAPage(t *testing.T) {
	browser := start(t)
	for _, page := range []struct{ name, html, want string }{
		{"nothing", viewport + `<style>p { color: green }</style><p>text</p><svg width="300"></svg>`, ""},
		{"a picture of the network", viewport + `<img src="http://192.0.2.1/x.png">`, "request: http://192.0.2.1/x.png"},
		{"a font of the network", viewport + `<style>@font-face { font-family: x; src: url(https://192.0.2.1/x.woff2) }
			p { font-family: x }</style><p>text</p>`, "request: https://192.0.2.1/x.woff2"},
		{"another file", viewport + `<link rel="stylesheet" href="file:///absent.css">`, "request: file:///absent.css"},
		{"a script that fails", viewport + `<script>throw new Error("broken")</script>`, "Error: broken"},
		{"a line of the console", viewport + `<script>console.error("broken")</script>`, `console: error "broken"`},
		{"what its policy refuses", viewport + `<meta http-equiv="Content-Security-Policy" content="default-src 'none'">
			<script>1</script>`, "log: security: error: "},
		{"a wide page", viewport + `<div style="width: 401px">text</div>`, "width: "},
		{"a page that is not for phones", `<p>text</p>`, "width: 980 pixels in a view of 400"},
	} {
		t.Run(page.name, func(t *testing.T) {
			_, wrong := visit(t, browser, write(t, page.html), view{"light", phone})
			if page.want == "" {
				require.Empty(t, wrong)
				return
			}
			require.NotEmpty(t, wrong)
			require.Contains(t, wrong[0], page.want)
		})
	}
}

func TestVisitShowsAPageInTheColorsOfTheView(t *testing.T) {
	browser := start(t)
	file := write(t, viewport+`<style>@media (prefers-color-scheme: dark) { p { width: 1401px } }</style><p>text</p>`)
	_, wrong := visit(t, browser, file, view{"light", desk})
	require.Empty(t, wrong)
	_, wrong = visit(t, browser, file, view{"dark", desk})
	require.NotEmpty(t, wrong)
}

// write writes a page to a file.
func write(t *testing.T, html string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.html")
	require.NoError(t, os.WriteFile(file, []byte("<!doctype html><title>Page</title>"+html), 0o600))
	return file
}
