package classify_test

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
)

// The -models of TestModeledTable also write these two files of the hard quotas.
const (
	hardQuotasFile     = "testdata/hardquotas.tsv"
	hardQuotaTableFile = "hardquota_table.go"
)

// hardQuota is an error that is about a quota of the account and no rate.
type hardQuota struct {
	service, code string
	status        int // 0 if the model has none
}

func (q hardQuota) outcome(status int) classify.Outcome {
	return classify.Outcome{Err: fmt.Errorf("operation: %w", joinAnswer(status, q.code)), Service: q.service}
}

var (
	// quotaCode finds codes that mean a quota.
	quotaCode = regexp.MustCompile(`(Quota|Limits?)(PerResource|For[A-Z][a-z]+)?Exceeded|^TooMany[A-Z]`)
	// rateText finds what is about a rate, about work under way that ends by itself, or about the
	// size of one request, in the documentation or in the code.
	rateText = regexp.MustCompile(`(?i)throttl|\brates?\b|[a-z]RateLimit|TooManyRequest|too many requests|too many calls|requests? per|` +
		`per second|per unit of time|short period|frequen|concurren|simultaneous|in.?progress|under way|at (the same|one) time|` +
		`\bwait|try (your request )?again|retry|24 hours|daily|\bsizes?\b|too large|too long|length|\brequest(s|ed)? contains?|batch|FailedAttempts`)
)

// hardQuotaOf reports whether an error of a model is a hard quota. throttles is whether the service has
// another code for throttles: where it has none, LimitExceededException may be one.
func hardQuotaOf(m modeledShape, throttles bool) bool {
	if m.retryable || rateText.MatchString(m.code) || rateText.MatchString(m.documentation) {
		return false
	}
	switch {
	case m.code == "LimitExceededException":
		return throttles
	case isThrottleCode(m.code):
		return false
	default:
		return quotaCode.MatchString(m.code) || m.hasQuotaCode
	}
}

// isThrottleCode reports whether the code alone makes an error a throttle, as rule C01 has it.
func isThrottleCode(code string) bool {
	return classify.NewChain(classify.Code()).Classify(classify.Outcome{Err: codeError(code)}).Kind() == classify.Throttling
}

func TestHardQuotaTable(t *testing.T) {
	if *models != "" {
		require.NoError(t, os.WriteFile(hardQuotasFile, hardQuotasText(t, *models), 0o600))
		require.NoError(t, os.WriteFile(hardQuotaTableFile, hardQuotaTableText(t), 0o600))
	}
	want, err := os.ReadFile(hardQuotaTableFile)
	require.NoError(t, err)
	require.Equal(t, string(want), string(hardQuotaTableText(t)))
}

// hardQuotasText reads all models.
func hardQuotasText(t *testing.T, dir string) []byte {
	t.Helper()
	var found []hardQuota
	services := map[string]bool{}
	files := modelFiles(t, dir)
	for _, path := range files {
		shapes := shapesOf(t, path)
		throttles := slices.ContainsFunc(shapes, func(m modeledShape) bool {
			return m.code != "LimitExceededException" && (m.throttling || isThrottleCode(m.code))
		})
		for _, m := range shapes {
			if hardQuotaOf(m, throttles) {
				found = append(found, hardQuota{m.service, m.code, m.status})
				services[m.service] = true
			}
		}
	}
	slices.SortFunc(found, func(a, b hardQuota) int {
		return cmp.Or(cmp.Compare(a.service, b.service), cmp.Compare(a.code, b.code))
	})
	found = slices.Compact(found)
	var text bytes.Buffer
	fmt.Fprintf(&text, "# botocore %s: of %d services, %d have %d errors that are about a quota and no rate\n",
		versionOf(t, dir), len(files), len(services), len(found))
	for _, q := range found {
		fmt.Fprintf(&text, "%s\t%s\t%d\n", q.service, q.code, q.status)
	}
	return text.Bytes()
}

func readHardQuotas(t *testing.T) (source string, quotas []hardQuota) {
	t.Helper()
	source, rows := readTable(t, hardQuotasFile, 3)
	for _, columns := range rows {
		status, err := strconv.Atoi(columns[2])
		require.NoError(t, err)
		quotas = append(quotas, hardQuota{columns[0], columns[1], status})
	}
	return source, quotas
}

func hardQuotaTableText(t *testing.T) []byte {
	t.Helper()
	source, quotas := readHardQuotas(t)
	services := map[string][]string{}
	for _, q := range quotas {
		services[q.code] = append(services[q.code], q.service)
	}
	return switchText(t, "hardquota_table_test.go", "hardQuotaIn returns the ids of the services in which an error code is about a quota "+
		"of the account\n// and no rate, with a bar in between.\n//\n// Source: "+source+".", "hardQuotaIn", services)
}
