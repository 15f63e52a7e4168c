package classify_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
)

// safetyError says whether its request may be sent again.
type safetyError classify.Safety

func (e safetyError) Error() string                { return fmt.Sprintf("safety %d", e) }
func (e safetyError) RetrySafety() classify.Safety { return classify.Safety(e) }

// retryableError says the same in the words of aws-sdk-go-v2.
type retryableError bool

func (e retryableError) Error() string        { return fmt.Sprintf("retryable %t", bool(e)) }
func (e retryableError) RetryableError() bool { return bool(e) }

// throttlingError says whether it is a throttle.
type throttlingError bool

func (e throttlingError) Error() string    { return fmt.Sprintf("throttling %t", bool(e)) }
func (e throttlingError) Throttling() bool { return bool(e) }

// faultError says on whose side it arose.
type faultError classify.Fault

func (e faultError) Error() string         { return fmt.Sprintf("fault %d", e) }
func (e faultError) Fault() classify.Fault { return classify.Fault(e) }

// smithyError has the methods of smithy-go's API errors, with types that this
// package does not know.
type smithyError struct {
	codeError
	fault smithyFault
}

func (e smithyError) ErrorMessage() string    { return "message" }
func (e smithyError) ErrorFault() smithyFault { return e.fault }

type smithyFault int

func (f smithyFault) String() string { return [...]string{"unknown", "server", "client"}[f] }

const no, yes, unknown = safetyError(classify.SafetyNo), safetyError(classify.SafetyYes), safetyError(classify.SafetyUnknown)

func TestWhatErrorsSayAboutThemselves(t *testing.T) {
	t.Parallel()
	none, forbidden := classify.None(), classify.Forbidden()
	as := classify.RetryAs
	serverFault, clientFault := faultError(classify.FaultServer), faultError(classify.FaultClient)
	for _, c := range []struct {
		name string
		err  error
		want classify.Verdict
	}{
		{"no", no, forbidden},
		{"no under a server error", errors.Join(statusError(503), no), forbidden},
		{"no under a throttle", errors.Join(codeError("SlowDown"), throttlingError(true), no), forbidden},
		{"no under a timeout", fmt.Errorf("%w, %w", timeoutError{}, no), forbidden},
		{"no under yes", errors.Join(yes, no), forbidden},
		{"no under unknown", errors.Join(unknown, no), forbidden},
		{"no by RetryableError", errors.Join(statusError(500), retryableError(false)), forbidden},

		{"yes", yes, as(classify.Transient)},
		{"yes for a final status", errors.Join(statusError(404), yes), as(classify.Transient)},
		{"yes by RetryableError", errors.Join(statusError(400), codeError("Conflict"), retryableError(true)), as(classify.Transient)},
		{"yes keeps a throttle", errors.Join(statusError(429), yes), as(classify.Throttling)},
		{"yes keeps a timeout", errors.Join(timeoutError{}, yes), as(classify.Timeout)},
		{"yes keeps a status", errors.Join(statusError(503), yes), as(classify.Transient)},
		{"yes and a fault of the server", errors.Join(yes, serverFault), as(classify.Server)},
		{"yes and a fault of the client", errors.Join(yes, clientFault), as(classify.Client)},
		{"yes before unknown", errors.Join(yes, unknown), as(classify.Transient)},
		{"yes to a skewed signature", errors.Join(codeError("AccessDeniedException"), yes), as(classify.Transient)},
		{"RetryableError of a skewed signature", errors.Join(codeError("AccessDeniedException"), retryableError(true)), as(classify.ClockSkew)},
		{"yes for what the caller ended", errors.Join(context.Canceled, yes), none},

		{"unknown", unknown, forbidden},
		{"unknown and a timeout", errors.Join(timeoutError{}, unknown), forbidden},
		{"unknown and a throttle", errors.Join(statusError(429), unknown), forbidden},
		{"unknown and a final status", errors.Join(statusError(404), unknown), forbidden},
		{"unknown and a fault of the client", errors.Join(statusError(503), unknown, clientFault), forbidden},
		{"unknown and a fault of the server", errors.Join(unknown, serverFault), as(classify.Server)},
		{"unknown, a timeout and a fault of the server", errors.Join(timeoutError{}, unknown, serverFault), as(classify.Timeout)},
		{"unknown and a status of the server", errors.Join(statusError(503), unknown), as(classify.Transient)},
		{"unknown and a final status of the server", errors.Join(statusError(501), unknown), as(classify.Server)},
		{"unknown and the first status of the server", errors.Join(statusError(500), unknown), as(classify.Transient)},
		{"unknown and the last status that is not the server's", errors.Join(statusError(499), unknown), forbidden},

		{"a throttle", throttlingError(true), as(classify.Throttling)},
		{"a throttle over a server error", errors.Join(statusError(503), throttlingError(true)), as(classify.Throttling)},
		{"a throttle over a reset", errors.Join(timeoutError{}, throttlingError(true)), as(classify.Throttling)},
		{"a throttle below what is none", errors.Join(throttlingError(false), throttlingError(true)), as(classify.Throttling)},
		{"no throttle", throttlingError(false), none},

		{"a fault of the server", serverFault, as(classify.Server)},
		{"a fault of the server and a final status", errors.Join(statusError(404), serverFault), as(classify.Server)},
		{"a fault of the server and a status", errors.Join(statusError(503), serverFault), as(classify.Transient)},
		{"a fault of the client", clientFault, none},
		{"a fault of the client and a status", errors.Join(statusError(503), clientFault), as(classify.Transient)},
		{"a fault of nobody, then of the server", errors.Join(faultError(classify.FaultUnknown), serverFault), as(classify.Server)},
	} {
		for how, err := range wrappings(c.err) {
			t.Run(c.name+"/"+how, func(t *testing.T) {
				t.Parallel()
				require.Equal(t, c.want, verdictOf(err))
			})
		}
	}
}

func TestUnknownSafetyCanBeLeftToTheOtherClassifiers(t *testing.T) {
	t.Parallel()
	chain := classify.Default().Replace(classify.Traits(classify.UnknownRetried))
	for _, c := range []struct {
		err  error
		want classify.Verdict
	}{
		{unknown, classify.None()},
		{errors.Join(timeoutError{}, unknown), classify.RetryAs(classify.Timeout)},
		{errors.Join(statusError(429), unknown), classify.RetryAs(classify.Throttling)},
		{errors.Join(statusError(404), unknown), classify.None()},
		{errors.Join(unknown, no), classify.Forbidden()},
	} {
		require.Equal(t, c.want, chain.Classify(classify.Outcome{Err: c.err}), c.err)
	}
}

func TestNoForbidsWhateverOtherClassifiersSay(t *testing.T) {
	t.Parallel()
	retry := &fixed{verdict: classify.RetryAs(classify.Throttling)}
	for _, p := range []classify.Priority{{}, classify.Before(classify.StatusPriority()), classify.After(classify.TraitsPriority())} {
		chain := classify.Default().With(classify.WithPriority(retry, p))
		require.Equal(t, classify.Forbidden(), chain.Classify(classify.Outcome{Err: errors.Join(statusError(503), no)}))
	}
}

// These have an ErrorFault method that is not smithy-go's.
type (
	argumentError struct{ codeError }
	textlessError struct{ codeError }
	twofoldError  struct{ codeError }
)

func (argumentError) ErrorFault(int) smithyFault            { return 1 }
func (textlessError) ErrorFault() int                       { return 1 }
func (twofoldError) ErrorFault() (smithyFault, smithyFault) { return 1, 1 }

func TestFaultsOfSmithy(t *testing.T) {
	t.Parallel()
	server := smithyError{"InternalFailure", 1}
	for _, c := range []struct {
		name string
		err  error
		want classify.Verdict
	}{
		{"server", server, classify.RetryAs(classify.Server)},
		{"client", smithyError{"ValidationException", 2}, classify.None()},
		{"unknown", smithyError{"Odd", 0}, classify.None()},
		{"a throttle that is the client's fault", smithyError{"SlowDown", 2}, classify.RetryAs(classify.Throttling)},
		{"server without a code", smithyError{"", 1}, classify.None()},
		{"server with a final status", errors.Join(statusError(501), server), classify.None()},
		{"server of unknown safety", errors.Join(unknown, server), classify.RetryAs(classify.Server)},
		{"client of unknown safety", errors.Join(unknown, smithyError{"Odd", 2}), classify.Forbidden()},
		{"with an argument", argumentError{"Odd"}, classify.None()},
		{"without a text", textlessError{"Odd"}, classify.None()},
		{"of two", twofoldError{"Odd"}, classify.None()},
	} {
		for how, err := range wrappings(c.err) {
			t.Run(c.name+"/"+how, func(t *testing.T) {
				t.Parallel()
				require.Equal(t, c.want, verdictOf(err))
			})
		}
	}
}
