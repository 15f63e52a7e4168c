package conformance

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/retry"
	"github.com/awsretry/awsretry/testdata"
)

// TestUnrulySubjectIsToldWithItsCase is about subjects that would end the test binary, or hang it.
func TestUnrulySubjectIsToldWithItsCase(t *testing.T) {
	t.Parallel()
	const limit = `the subject "unruly", case of the limit of attempts: `
	for name, c := range map[string]struct {
		do   Do
		want string
	}{
		"panic": {
			func(context.Context, func(context.Context) error) error { panic("oh") }, limit + "Do panicked: oh",
		},
		"nil context": {
			func(_ context.Context, attempt func(context.Context) error) error {
				return attempt(nil)
			},
			limit + "Do panicked: it called attempt with a nil context",
		},
		"no end": {
			func(context.Context, func(context.Context) error) error { select {} },
			limit + "Do did not return for 30 days after its context had ended",
		},
		"sleep without an end": {
			func(context.Context, func(context.Context) error) error {
				for {
					<-time.After(time.Hour)
				}
			},
			limit + "Do did not return for 30 days after its context had ended",
		},
		"goroutine that stays": {
			func(ctx context.Context, attempt func(context.Context) error) error {
				go func() { select {} }()
				return attempt(ctx)
			},
			limit + "Do, or a goroutine that it has started, did not end",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := checkCases(t, Subject{
				Name: "unruly", New: func(*Settings) (Do, error) { return c.do, nil },
			}, testdata.Cases)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestNewThatPanicsOrReturnsNilIsAnError(t *testing.T) {
	t.Parallel()
	for want, make := range map[string]func(*Settings) (Do, error){
		"New panicked: oh":       func(*Settings) (Do, error) { panic("oh") },
		"New: a nil aws.Retryer": FromRetryer(func(*Settings) aws.Retryer { return nil }),
		"New: retry: ": FromStrategy(func(*Settings) (retry.Strategy, error) {
			return nil, nil
		}),
	} {
		_, err := checkCases(t, Subject{Name: "x", New: make}, testdata.Cases)
		require.ErrorContains(t, err, `the subject "x", case of the limit of attempts: `+want)
	}
}

func TestErrorOfNewInALaterCaseNamesTheCase(t *testing.T) {
	t.Parallel()
	_, err := checkCases(t, Subject{
		Name: "x", New: func(s *Settings) (Do, error) {
			if s.QuotaCapacity() == 13 {
				return nil, errors.New("an unlucky number")
			}
			return once, nil
		},
	}, testdata.Cases)
	require.NoError(t, err, "a retryer without retries is not asked about its quota")

	_, err = checkCases(t, Subject{
		Name: "x", New: func(s *Settings) (Do, error) {
			if s.QuotaCapacity() == 13 {
				return nil, errors.New("an unlucky number")
			}
			return FromStrategy(newStandard)(s)
		},
	}, testdata.Cases)
	require.EqualError(t, err, `conformance: the subject "x", case own-thirteen-tokens: New: an unlucky number`)
}

func TestAttemptsWithALimitOfTimeLeaveTheirCasesOut(t *testing.T) {
	t.Parallel()
	report := Check(t, Subject{
		Name: "limited", Adaptive: true, New: func(s *Settings) (Do, error) {
			do, err := FromStrategy(newAdaptive)(s)
			return func(ctx context.Context, attempt func(context.Context) error) error {
				return do(ctx, func(ctx context.Context) error {
					ctx, cancel := context.WithTimeout(ctx, time.Minute)
					defer cancel()
					return attempt(ctx)
				})
			}, err
		},
	})
	require.Zero(t, report.Count(Broken), report)
	var reasons []string
	for _, rule := range report.Rules {
		reasons = append(reasons, rule.Reason)
	}
	require.Contains(t, reasons, "an attempt ended before its answer, which can take an hour: the attempts need no limit of time")
}
