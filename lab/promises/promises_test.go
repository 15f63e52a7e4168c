package promises

import (
	"flag"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/retry"
)

var update = flag.Bool("update", false, "write the table of README.md")

func TestPromisesHoldWithEachFeature(t *testing.T) {
	for _, row := range rows() {
		for _, column := range columns() {
			if row.not[column.name] != "" {
				continue
			}
			t.Run(row.promise+"/"+column.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					row.play(&play{T: t, use: column.use, through: throughDo, op: retry.Operation{Scope: "orders"}})
				})
			})
		}
	}
}

func TestFeaturesOfExceptionsExist(t *testing.T) {
	names := map[string]bool{}
	for _, column := range columns() {
		names[column.name] = true
	}
	for _, row := range rows() {
		for name := range row.not {
			require.True(t, names[name], name)
		}
	}
}

const (
	readme = "README.md"
	mark   = "<!-- the table -->\n"
)

// TestTableIsThatOfTheReadme compares the table with the one of the page, or with -update writes it.
func TestTableIsThatOfTheReadme(t *testing.T) {
	page, err := os.ReadFile(readme)
	require.NoError(t, err)
	text, _, found := strings.Cut(string(page), mark)
	require.True(t, found)
	want := text + mark + table()
	if *update {
		require.NoError(t, os.WriteFile(readme, []byte(want), 0o600))
		return
	}
	require.Equal(t, want, string(page), "go test -run Readme . -update")
}

// table names the features, and has a promise in each row with the features that it is not played with, and why.
func table() string {
	var b strings.Builder
	b.WriteString("\nThe features: ")
	for i, column := range columns() {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(column.name)
	}
	b.WriteString(".\n\n| promise | not played with |\n|---|---|\n")
	for _, row := range rows() {
		b.WriteString("| " + row.promise + " |")
		separator := " "
		for _, column := range columns() {
			if why := row.not[column.name]; why != "" {
				b.WriteString(separator + "**" + column.name + "**: " + why)
				separator = "; "
			}
		}
		b.WriteString(" |\n")
	}
	return b.String()
}
