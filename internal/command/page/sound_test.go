//go:build !race

package page_test

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"

	"github.com/stretchr/testify/require"
)

// requireSound holds a page to what every page has to be: well-formed, without anything that runs
// or loads, with ids that are unique and lead somewhere, and without a number that is none.
func requireSound(t require.TestingT, text string) {
	decoder := xml.NewDecoder(strings.NewReader(text))
	ids, refers, named := map[string]bool{}, []string{}, map[string]bool{}
	headings, styles := 0, ""
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		name := start.Name.Local
		if name == "style" {
			require.NoError(t, decoder.DecodeElement(&styles, &start))
			continue
		}
		require.NotContains(t, []string{"script", "link", "img", "image", "use", "iframe", "object", "embed", "base", "form", "a"}, name)
		if len(name) == 2 && name[0] == 'h' && name[1] != 'r' {
			level := int(name[1] - '0')
			require.LessOrEqual(t, level, headings+1)
			headings = level
		}
		attributes := map[string]string{}
		for _, a := range start.Attr {
			attributes[a.Name.Local] = a.Value
			require.Empty(t, a.Name.Space)
			require.NotContains(t, a.Value, "url(")
			require.NotContains(t, []string{"src", "srcset", "href", "style", "action", "background"}, a.Name.Local)
			require.False(t, strings.HasPrefix(a.Name.Local, "on"), a.Name.Local)
		}
		if id, ok := attributes["id"]; ok {
			require.NotEmpty(t, id)
			require.False(t, ids[id], id)
			ids[id] = true
		}
		if by, ok := attributes["aria-labelledby"]; ok {
			refers = append(refers, by)
		}
		if label, ok := attributes["aria-label"]; ok && name == "div" {
			require.NotEmpty(t, label)
			named[label] = true
		}
		switch name {
		case "th":
			require.NotEmpty(t, attributes["scope"])
		case "svg":
			require.True(t, attributes["aria-hidden"] == "true" || attributes["role"] == "img" && attributes["aria-labelledby"] != "")
		case "html":
			require.Equal(t, "en", attributes["lang"])
		}
	}
	for _, id := range refers {
		require.True(t, ids[id], id)
	}
	require.NotEmpty(t, named)
	require.Contains(t, text, `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"/>`)
	require.NotEmpty(t, styles)
	require.NotContains(t, styles, "url(")
	require.NotContains(t, styles, "@import")
	require.NotContains(t, text, "ZgotmplZ") // what the template writes for a value that it refuses
	require.Empty(t, regexp.MustCompile(`\b(NaN|Inf)\b`).FindString(text))
}
