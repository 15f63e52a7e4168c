package classify_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"go/format"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
)

// go test ./classify -run ModeledTable -models DIR writes the two files of the
// modeled errors from the models in DIR, the directory of an installed botocore
// package:
//
//	DIR/__init__.py                              has the version
//	DIR/data/SERVICE/API-VERSION/service-2.json  or service-2.json.gz
//
// Of a service with several versions of its API the newest counts.
var models = flag.String("models", "", "write the table of modeled errors from the botocore package in this directory")

// The files that are written, the second from the first.
const (
	marksFile = "testdata/modeled.tsv"
	tableFile = "modeled_table.go"
)

// mark is an error that a model marks as retryable.
type mark struct {
	service, code string
	status        int // 0 if the model has none
	throttling    bool
}

// answer is the error as a client sees it.
func (m mark) answer() error {
	return fmt.Errorf("operation: %w", joinAnswer(m.status, m.code))
}

func TestModeledTable(t *testing.T) {
	if *models != "" {
		require.NoError(t, os.WriteFile(marksFile, marksText(t, *models), 0o600))
		require.NoError(t, os.WriteFile(tableFile, tableText(t), 0o600))
	}
	want, err := os.ReadFile(tableFile)
	require.NoError(t, err)
	require.Equal(t, string(want), string(tableText(t)))
}

func TestEveryModeledErrorIsRetried(t *testing.T) {
	t.Parallel()
	_, marks := readMarks(t)
	require.NotEmpty(t, marks)
	for _, m := range marks {
		o := classify.Outcome{Err: m.answer(), Service: m.service}
		got := classify.Default().Classify(o)
		require.True(t, got.Retryable(), "%+v", m)
		if m.throttling {
			require.Equal(t, classify.Throttling, got.Kind(), "%+v", m)
		}
	}
}

// readMarks returns the first line of the file of marks, which says where they are
// from, and the marks.
func readMarks(t *testing.T) (source string, marks []mark) {
	t.Helper()
	source, rows := readTable(t, marksFile, 4)
	for _, columns := range rows {
		status, err := strconv.Atoi(columns[2])
		require.NoError(t, err)
		marks = append(marks, mark{columns[0], columns[1], status, columns[3] == "throttling"})
	}
	return source, marks
}

// readTable returns the first line of a file, which says where it is from, and the columns of the
// others.
func readTable(t *testing.T, name string, width int) (source string, rows [][]string) {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	first, rest, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	for line := range strings.Lines(rest) {
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		require.Len(t, columns, width, line)
		rows = append(rows, columns)
	}
	return strings.TrimPrefix(first, "# "), rows
}

// marksText reads all models.
func marksText(t *testing.T, dir string) []byte {
	t.Helper()
	found := map[mark]bool{}
	services, marked := 0, map[string]bool{}
	for _, path := range modelFiles(t, dir) {
		services++
		for _, m := range marksOf(t, path) {
			found[m] = true
			marked[m.service] = true
		}
	}
	sorted := slices.SortedFunc(maps.Keys(found), func(a, b mark) int {
		return cmp.Or(cmp.Compare(a.service, b.service), cmp.Compare(a.code, b.code))
	})
	var text bytes.Buffer
	fmt.Fprintf(&text, "# botocore %s: of %d services, %d mark %d errors as retryable\n",
		versionOf(t, dir), services, len(marked), len(sorted))
	for _, m := range sorted {
		fmt.Fprintf(&text, "%s\t%s\t%d\t%s\n", m.service, m.code, m.status,
			map[bool]string{true: "throttling", false: "retryable"}[m.throttling])
	}
	return text.Bytes()
}

// modelFiles returns the newest model of each service.
func modelFiles(t *testing.T, dir string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "data", "*", "*", "service-2.json*"))
	require.NoError(t, err)
	require.NotEmpty(t, all)
	newest := map[string]string{}
	for _, path := range all { // sorted
		newest[filepath.Dir(filepath.Dir(path))] = path
	}
	return slices.Sorted(maps.Values(newest))
}

func versionOf(t *testing.T, dir string) string {
	t.Helper()
	init, err := os.ReadFile(filepath.Join(dir, "__init__.py"))
	require.NoError(t, err)
	version := regexp.MustCompile(`(?m)^__version__ = '(.+)'`).FindSubmatch(init)
	require.NotNil(t, version, "no version in __init__.py")
	return string(version[1])
}

func marksOf(t *testing.T, path string) (marks []mark) {
	t.Helper()
	for _, m := range shapesOf(t, path) {
		if m.retryable {
			marks = append(marks, mark{m.service, m.code, m.status, m.throttling})
		}
	}
	return marks
}

// modeledShape is an error, or what may be one, in a model.
type modeledShape struct {
	service, code         string
	status                int
	retryable, throttling bool
	hasQuotaCode          bool
	documentation         string
}

func shapesOf(t *testing.T, path string) (shapes []modeledShape) {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	var model struct {
		Metadata struct {
			ServiceID string `json:"serviceId"`
		} `json:"metadata"`
		Shapes map[string]struct {
			Retryable *struct {
				Throttling bool `json:"throttling"`
			} `json:"retryable"`
			Exception bool `json:"exception"`
			Error     *struct {
				Code           string `json:"code"`
				HTTPStatusCode int    `json:"httpStatusCode"`
			} `json:"error"`
			Members       map[string]json.RawMessage `json:"members"`
			Documentation string                     `json:"documentation"`
		} `json:"shapes"`
	}
	var text io.Reader = file
	if strings.HasSuffix(path, ".gz") {
		text, err = gzip.NewReader(file)
		require.NoError(t, err, path)
	}
	require.NoError(t, json.NewDecoder(text).Decode(&model), path)
	for name, shape := range model.Shapes {
		if !shape.Exception && shape.Error == nil && shape.Retryable == nil {
			continue
		}
		m := modeledShape{service: model.Metadata.ServiceID, code: name, documentation: shape.Documentation}
		if shape.Error != nil {
			m.code, m.status = cmp.Or(shape.Error.Code, name), shape.Error.HTTPStatusCode
		}
		if m.retryable = shape.Retryable != nil; m.retryable {
			m.throttling = shape.Retryable.Throttling
		}
		_, lower := shape.Members["quotaCode"]
		_, upper := shape.Members["QuotaCode"]
		m.hasQuotaCode = lower || upper
		shapes = append(shapes, m)
	}
	return shapes
}

// tableText writes the table: the marks that the default chain would not see
// otherwise.
func tableText(t *testing.T) []byte {
	t.Helper()
	source, marks := readMarks(t)
	chain := changed(t)(classify.Default().Without("modeled"))
	services := map[string][]string{}
	rows := 0
	for _, m := range marks {
		got := chain.Classify(classify.Outcome{Err: m.answer(), Service: m.service})
		if got.Retryable() && (!m.throttling || got.Kind() == classify.Throttling) {
			continue
		}
		service := m.service
		if m.throttling {
			service += "*"
		}
		services[m.code] = append(services[m.code], service)
		rows++
	}
	return switchText(t, "modeled_table_test.go", "modeledIn returns the ids of the services in which an error code is modeled as\n"+
		"// retryable, with a bar in between, and with an asterisk behind one where it is a\n// throttle.\n//\n"+
		fmt.Sprintf("// Source: %s,\n// and %d of them do not show it in their code or status.", source, rows), "modeledIn", services)
}

// switchText writes a function that returns the services of a code.
func switchText(t *testing.T, generator, comment, function string, services map[string][]string) []byte {
	t.Helper()
	var text bytes.Buffer
	fmt.Fprintf(&text, "// Code generated by %s; DO NOT EDIT.\n\npackage classify\n\n// %s\n"+
		"func %s(code string) string {\n\tswitch code {\n", generator, comment, function)
	for _, code := range slices.Sorted(maps.Keys(services)) {
		fmt.Fprintf(&text, "\tcase %q:\n\t\treturn %q\n", code, strings.Join(services[code], "|"))
	}
	text.WriteString("\tdefault:\n\t\treturn \"\"\n\t}\n}\n")
	formatted, err := format.Source(text.Bytes())
	require.NoError(t, err)
	return formatted
}
