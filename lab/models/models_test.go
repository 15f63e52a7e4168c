package models

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

var botocore = flag.String("botocore", "", "write testdata and the tables from the botocore package in this directory")

// model is what is read of a model.
type model struct {
	Metadata struct {
		ServiceID string `json:"serviceId"`
	} `json:"metadata"`
	Operations map[string]struct {
		Input  *reference `json:"input"`
		Output *reference `json:"output"`
	} `json:"operations"`
	Shapes map[string]shape `json:"shapes"`
}

type reference struct {
	Shape string `json:"shape"`
}

type shape struct {
	Type      string   `json:"type"`
	Enum      []string `json:"enum"`
	Exception bool     `json:"exception"`
	Retryable *struct {
		Throttling bool `json:"throttling"`
	} `json:"retryable"`
	Error *struct {
		Code           string `json:"code"`
		HTTPStatusCode int    `json:"httpStatusCode"`
	} `json:"error"`
	Members       map[string]reference `json:"members"`
	Member        reference            `json:"member"` // of a list
	Value         reference            `json:"value"`  // of a map
	Documentation string               `json:"documentation"`
}

func (s *shape) failed() bool { return s.Exception || s.Error != nil || s.Retryable != nil }

func (s *shape) code(name string) string {
	if s.Error != nil {
		return cmp.Or(s.Error.Code, name)
	}
	return name
}

func (s *shape) status() int {
	if s.Error != nil {
		return s.Error.HTTPStatusCode
	}
	return 0
}

func (s *shape) hasQuotaCode() bool {
	_, lower := s.Members["quotaCode"]
	_, upper := s.Members["QuotaCode"]
	return lower || upper
}

// read returns the newest model of each service, and where they are from.
func read(t *testing.T, dir string) (all []*model, source string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "data", "*", "*", "service-2.json*"))
	require.NoError(t, err)
	newest := map[string]string{}
	for _, path := range paths { // sorted
		newest[filepath.Dir(filepath.Dir(path))] = path
	}
	for _, path := range slices.Sorted(maps.Values(newest)) {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		if strings.HasSuffix(path, ".gz") {
			packed, err := gzip.NewReader(bytes.NewReader(text))
			require.NoError(t, err, path)
			text, err = io.ReadAll(packed)
			require.NoError(t, err, path)
		}
		all = append(all, parse(t, text))
	}
	require.NotEmpty(t, all)
	about, err := os.ReadFile(filepath.Join(dir, "__init__.py"))
	require.NoError(t, err)
	version := regexp.MustCompile(`(?m)^__version__ = '(.+)'`).FindSubmatch(about)
	require.NotNil(t, version, "no version in __init__.py")
	return all, fmt.Sprintf("# botocore %s, %d services\n", version[1], len(all))
}

func parse(t *testing.T, text []byte) *model {
	t.Helper()
	m := new(model)
	require.NoError(t, json.Unmarshal(text, m))
	return m
}

const (
	errorsFile, membersFile = "testdata/errors.tsv", "testdata/members.tsv"
	codesTable, batchTable  = "../../classify/modeled_table.go", "../../internal/wire/batch_table.go"
)

// rowsOf reads a file of testdata, and its first line.
func rowsOf(t *testing.T, path string, columns int) (source string, rows [][]string) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	source, rest, _ := strings.Cut(string(text), "\n")
	for line := range strings.Lines(rest) {
		row := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		require.Len(t, row, columns, line)
		rows = append(rows, row)
	}
	return source + "\n", rows
}

func write(t *testing.T, path, source string, rows [][]string) {
	t.Helper()
	var lines []string
	for _, row := range rows {
		lines = append(lines, strings.Join(row, "\t")+"\n")
	}
	slices.Sort(lines)
	require.NoError(t, os.WriteFile(path, []byte(source+strings.Join(slices.Compact(lines), "")), 0o600))
}

func failures(t *testing.T) (source string, all []failure) {
	t.Helper()
	source, rows := rowsOf(t, errorsFile, 4)
	for _, row := range rows {
		status, err := strconv.Atoi(row[2])
		require.NoError(t, err)
		all = append(all, failure{row[0], row[1], status, row[3]})
	}
	return source, all
}

func members(t *testing.T) (all []member) {
	t.Helper()
	_, rows := rowsOf(t, membersFile, 6)
	for _, row := range rows {
		all = append(all, member{row[0], row[1], row[2], row[3], row[4], row[5]})
	}
	return all
}

// TestTables compares the tables with testdata, or writes both from the models.
func TestTables(t *testing.T) {
	if *botocore != "" {
		models, source := read(t, *botocore)
		var failed, found [][]string
		known := members(t)
		for _, m := range models {
			for _, f := range m.failuresOf() {
				failed = append(failed, []string{f.service, f.code, strconv.Itoa(f.status), f.means})
			}
			for _, one := range m.membersOf(known) {
				found = append(found, []string{one.service, one.operations, one.path, one.means, one.entries, one.codes})
			}
		}
		write(t, errorsFile, source, failed)
		write(t, membersFile, source, found)
		require.NoError(t, os.WriteFile(codesTable, codesText(t), 0o600))
		require.NoError(t, os.WriteFile(batchTable, batchText(t), 0o600))
	}
	for path, want := range map[string][]byte{codesTable: codesText(t), batchTable: batchText(t)} {
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(want), string(got), path)
	}
}

// TestWhatTheModelsHaveIsInARow finds nothing whose meaning is not decided.
func TestWhatTheModelsHaveIsInARow(t *testing.T) {
	t.Parallel()
	_, failed := failures(t)
	for _, f := range failed {
		require.NotEqual(t, "?", f.means, "decided in errors_test.go: what is %s of %s?", f.code, f.service)
	}
	for _, m := range members(t) {
		require.NotEqual(t, "?", m.means, "%s: what is %s of %s %s?", membersFile, m.path, m.service, m.operations)
	}
}

// TestNewWordsAreUndecided plays a model with words that no row has.
func TestNewWordsAreUndecided(t *testing.T) {
	t.Parallel()
	m := parse(t, []byte(`{"metadata": {"serviceId": "Made Up"}, "operations": {
		"PutThings": {"input": {"shape": "In"}, "output": {"shape": "Out"}}, "DescribeThings": {"output": {"shape": "Out"}}
	}, "shapes": {
		"In": {"type": "structure", "members": {"Things": {"shape": "Texts"}, "Name": {"shape": "Text"}}},
		"Out": {"type": "structure", "members": {"Failed": {"shape": "Entries"}, "FailedThingCount": {"shape": "Number"}, "Unprocessed": {"shape": "Texts"}}},
		"Entries": {"type": "list", "member": {"shape": "Entry"}},
		"Entry": {"type": "structure", "members": {"Code": {"shape": "Text"}, "Cause": {"shape": "Cause"}, "Level": {"shape": "Level"}}},
		"Cause": {"type": "string", "enum": ["RateLimitExceeded"]}, "Level": {"type": "string", "enum": ["High"]},
		"Busy": {"type": "structure", "exception": true, "documentation": "Too many requests.", "members": {"Reasons": {"shape": "Entries"}}},
		"SlowThrottle": {"type": "structure", "exception": true},
		"Text": {"type": "string"}, "Number": {"type": "integer"}, "Texts": {"type": "list", "member": {"shape": "Text"}}
	}}`))
	var found []string
	for _, f := range m.failuresOf() {
		found = append(found, f.code+" "+f.means)
	}
	for _, one := range m.membersOf(nil) {
		found = append(found, strings.Join([]string{one.operations, one.path, one.means, one.entries}, " "))
	}
	require.ElementsMatch(t, []string{
		"Busy ?", "SlowThrottle throttle", "Busy error.Reasons.Code ? ", "Busy error.Reasons.Cause ? ",
		"PutThings Failed.Code ? Things", "PutThings Failed.Cause ? Things", "PutThings FailedThingCount ? Things", "PutThings Unprocessed ? Things",
	}, found)
	known := member{"Made Up", "PutThings", "Failed.Code", "entries", "Others", ""}
	require.Contains(t, m.membersOf([]member{known}), known, "what was decided stays")
}

// TestEveryFailureIsJudgedAsTheModelsSay, with the status and without one, as an answer and as an entry.
func TestEveryFailureIsJudgedAsTheModelsSay(t *testing.T) {
	t.Parallel()
	_, failed := failures(t)
	for _, f := range failed {
		judged := func(status int) classify.Verdict {
			return classify.Default().Classify(classify.Outcome{Err: answer{f.code, status}, Service: f.service})
		}
		switch f.means {
		case "throttling", "throttle", "relay":
			for _, status := range []int{f.status, 0, 400} {
				require.Equal(t, classify.Throttling, judged(status).Kind(), "%+v", f)
			}
			require.Equal(t, f.means == "relay", judged(0).Reach() == classify.ReachOther, "%+v", f)
		case "retryable":
			require.True(t, judged(f.status).Retryable(), "%+v", f)
		case "none":
			require.False(t, judged(f.status).Retryable(), "%+v", f)
		case "quota":
			code := isThrottleCode(f.code)
			for _, status := range []int{400, 429} {
				outcome := classify.Outcome{Err: answer{f.code, status}, Service: f.service}
				require.Equal(t, code, judged(status).Retryable(), "%+v, %d", f, status)
				require.Equal(t, code, judged(status).HardQuota(), "%+v, %d", f, status)
				require.True(t, classify.Also(classify.HardQuotas()).Classify(outcome).Forbids(), "%+v, %d", f, status)
			}
			unknown := classify.Default().Classify(classify.Outcome{Err: answer{f.code, 429}})
			require.Equal(t, classify.RetryAs(classify.Throttling), unknown, "%+v: nothing changes without a service", f)
		}
	}
}

// codesText is the table of package classify.
func codesText(t *testing.T) []byte {
	t.Helper()
	chain, err := classify.Default().Without("modeled")
	require.NoError(t, err)
	source, failed := failures(t)
	services := map[string][]string{}
	add := func(code, service string, mark byte) {
		one := strings.TrimSuffix(service+string(mark), " ")
		if !slices.Contains(services[code], one) {
			services[code] = append(services[code], one)
		}
	}
	for _, f := range failed {
		got := chain.Classify(classify.Outcome{Err: answer{f.code, f.status}, Service: f.service})
		service := f.service
		if byName(f.code) != "" {
			service = ""
		}
		switch {
		case f.means == "quota":
			add(f.code, service, '#')
		case f.means == "relay":
			add(f.code, service, '~')
		case f.means == "throttle", f.means == "throttling" && got.Kind() != classify.Throttling:
			add(f.code, service, '*')
		case f.means == "retryable" && !got.Retryable():
			add(f.code, service, ' ')
		}
	}
	// What the models of botocore lack: the page Common Errors of all services, and a code of S3 and of SQS, which
	// x-amzn-query-error has in place of KmsThrottled.
	codes := []string{"InternalError", "InternalFailure", "ServiceUnavailable", "KMS.ThrottlingException"}
	for _, m := range members(t) {
		if m.means == "entries" || m.means == "canceled" {
			codes = append(codes, strings.Fields(m.codes)...)
		}
	}
	for _, code := range codes {
		switch means := byName(code); {
		case isThrottleCode(code):
		case means == "relay":
			add(code, "", '~')
		case means == "throttle":
			add(code, "", '*')
		case faultName.MatchString(code):
			add(code, "", ':')
		}
	}
	var text bytes.Buffer
	fmt.Fprintf(&text, `// Code generated by lab/models; DO NOT EDIT.

package classify

// modeledIn returns in which services an error code has a meaning, with bars in between: the id of the service, or nothing for
// all services, and a mark, see markIn.
//
// Source: %s.
func modeledIn(code string) string {
	switch code {
`, strings.TrimSpace(strings.TrimPrefix(source, "#")))
	alike := map[string][]string{} // codes by their services
	for code, in := range services {
		slices.SortFunc(in, func(a, b string) int { // those of all services last
			return cmp.Or(cmp.Compare(min(2, len(b)), min(2, len(a))), cmp.Compare(a, b))
		})
		row := strings.Join(in, "|")
		alike[row] = append(alike[row], strconv.Quote(code))
	}
	for _, row := range slices.Sorted(maps.Keys(alike)) {
		slices.Sort(alike[row])
		fmt.Fprintf(&text, "\tcase %s:\n\t\treturn %q\n", strings.Join(alike[row], ",\n\t\t"), row)
	}
	text.WriteString("\tdefault:\n\t\treturn \"\"\n\t}\n}\n")
	formatted, err := format.Source(text.Bytes())
	require.NoError(t, err)
	return formatted
}
