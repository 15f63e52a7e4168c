//go:build browser

package browser_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

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
