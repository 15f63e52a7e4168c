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

// modeledError is an error of a model. The fields after code are not of all tables.
type modeledError struct {
	service, code string
	status        int // 0 if the model has none
	throttling    bool
}

func (m modeledError) outcome(status int) classify.Outcome {
	return classify.Outcome{Err: fmt.Errorf("operation: %w", joinAnswer(status, m.code)), Service: m.service}
}

// modeledTable is a table in the code. It is written from a file, and the file from models.
type modeledTable struct {
	file, code string
	source     string // the first line of the file, of: version, services, those with such errors, errors
	words      map[bool]string
	of         func(shapes []modeledShape) []modeledError // those of a model
	text       func(t *testing.T, source string, errs []modeledError) []byte
}

var marked = modeledTable{
	file: "testdata/modeled.tsv", code: "modeled_table.go",
	source: "# botocore %s: of %d services, %d mark %d errors as retryable\n",
	words:  map[bool]string{true: "\tthrottling", false: "\tretryable"},
	of: func(shapes []modeledShape) (errs []modeledError) {
		for _, m := range shapes {
			if m.retryable {
				errs = append(errs, m.modeledError)
			}
		}
		return errs
	},
	text: markedText,
}

// requireWritten compares the table with its file, or writes both from the models.
func (table modeledTable) requireWritten(t *testing.T) {
	t.Helper()
	if *models != "" {
		require.NoError(t, os.WriteFile(table.file, table.fromModels(t, *models), 0o600))
		source, errs := table.read(t)
		require.NoError(t, os.WriteFile(table.code, table.text(t, source, errs), 0o600))
	}
	want, err := os.ReadFile(table.code)
	require.NoError(t, err)
	source, errs := table.read(t)
	require.Equal(t, string(want), string(table.text(t, source, errs)))
}

func (table modeledTable) fromModels(t *testing.T, dir string) []byte {
	t.Helper()
	found, services, files := map[modeledError]bool{}, map[string]bool{}, modelFiles(t, dir)
	for _, path := range files {
		for _, m := range table.of(shapesOf(t, path)) {
			found[m], services[m.service] = true, true
		}
	}
	var text bytes.Buffer
	fmt.Fprintf(&text, table.source, versionOf(t, dir), len(files), len(services), len(found))
	for _, m := range slices.SortedFunc(maps.Keys(found), func(a, b modeledError) int {
		return cmp.Or(cmp.Compare(a.service, b.service), cmp.Compare(a.code, b.code))
	}) {
		fmt.Fprintf(&text, "%s\t%s\t%d%s\n", m.service, m.code, m.status, table.words[m.throttling])
	}
	return text.Bytes()
}

// read returns the first line of the file, which says where it is from, and the errors.
func (table modeledTable) read(t *testing.T) (source string, errs []modeledError) {
	t.Helper()
	text, err := os.ReadFile(table.file)
	require.NoError(t, err)
	first, rest, _ := strings.Cut(string(text), "\n")
	for line := range strings.Lines(rest) {
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		require.GreaterOrEqual(t, len(columns), 3, line)
		status, err := strconv.Atoi(columns[2])
		require.NoError(t, err)
		errs = append(errs, modeledError{columns[0], columns[1], status, columns[len(columns)-1] == "throttling"})
	}
	require.NotEmpty(t, errs)
	return strings.TrimPrefix(first, "# "), errs
}

func TestModeledTable(t *testing.T) { marked.requireWritten(t) }

func TestEveryModeledErrorIsRetried(t *testing.T) {
	t.Parallel()
	_, errs := marked.read(t)
	for _, m := range errs {
		got := classify.Default().Classify(m.outcome(m.status))
		require.True(t, got.Retryable(), "%+v", m)
		if m.throttling {
			require.Equal(t, classify.Throttling, got.Kind(), "%+v", m)
		}
	}
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

// modeledShape is an error, or what may be one, in a model.
type modeledShape struct {
	modeledError

	retryable, hasQuotaCode bool
	documentation           string
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
		m := modeledShape{modeledError: modeledError{service: model.Metadata.ServiceID, code: name}, documentation: shape.Documentation}
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

// markedText writes the marks that the default chain would not see otherwise.
func markedText(t *testing.T, source string, errs []modeledError) []byte {
	t.Helper()
	chain := changed(t)(classify.Default().Without("modeled"))
	services := map[string][]string{}
	rows := 0
	for _, m := range errs {
		got := chain.Classify(m.outcome(m.status))
		if got.Retryable() && (!m.throttling || got.Kind() == classify.Throttling) {
			continue
		}
		services[m.code] = append(services[m.code], m.service+map[bool]string{true: "*"}[m.throttling])
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
