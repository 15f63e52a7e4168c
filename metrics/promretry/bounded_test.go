package promretry_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/metrics/promretry"
	"github.com/awsretry/awsretry/retry"
)

func TestOperationsAfterTheFirstThousandAreCountedTogether(t *testing.T) {
	t.Parallel()
	metrics := promretry.New(promretry.Config{})
	ended := func(i int) {
		metrics.Observe(t.Context(), retry.Event{
			Kind: retry.RetryRefused, Operation: retry.Operation{Service: "s3", Name: fmt.Sprint("Get", i), Region: "eu"},
		})
	}
	for i := range 10_000 { // texts that are the same label take one place
		op := retry.Operation{Name: strings.Repeat("\xff", 1+i%100), Region: strings.Repeat("\xfe", 1+i/100)}
		metrics.Observe(t.Context(), retry.Event{Kind: retry.RetryRefused, Operation: op})
	}
	for i := range 1233 {
		ended(i)
	}
	ended(0) // one that is known goes on
	require.Len(t, series(t, metrics, "retries_refused_total{"), 1001)
	for _, line := range []string{
		`reason="success",cloud_region="_OTHER",rpc_method="_OTHER",rpc_service="_OTHER"} 234`,
		`reason="success",cloud_region="eu",rpc_method="Get0",rpc_service="s3"} 2`,
		`reason="success",cloud_region="eu",rpc_method="Get998",rpc_service="s3"} 1`,
	} {
		require.Contains(t, series(t, metrics, "retries_refused_total{"), "retries_refused_total{"+line)
	}
}

func TestErrorCodesAfterTheFirstTwoHundredAreCountedTogetherAndKindsNeedNoPlace(t *testing.T) {
	t.Parallel()
	metrics := promretry.New(promretry.Config{})
	metrics.Observe(t.Context(), retry.Event{Kind: retry.AttemptEnded, Err: errors.New("unknown")})
	for i := range 234 {
		metrics.Observe(t.Context(), retry.Event{Kind: retry.AttemptEnded, Err: apiError(fmt.Sprint("Code", i))})
	}
	metrics.Observe(t.Context(), retry.Event{Kind: retry.AttemptEnded, Err: errors.New("late"), Verdict: classify.RetryAs(classify.Timeout)})
	got := series(t, metrics, "attempts_total{")
	require.Len(t, got, 202)
	for _, line := range []string{`"none",error_type="_OTHER" 35`, `"none",error_type="Code199" 1`, `"timeout",error_type="timeout" 1`} {
		labels, count, _ := strings.Cut(line, " ")
		require.Contains(t, got, `attempts_total{kind=`+labels+`} `+count)
	}
}
