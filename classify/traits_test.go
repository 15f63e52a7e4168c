package classify_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
)

// retryableError says the same in the words of aws-sdk-go-v2.
type retryableError bool

func (e retryableError) Error() string        { return fmt.Sprintf("retryable %t", bool(e)) }
func (e retryableError) RetryableError() bool { return bool(e) }

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

func TestWhatErrorsSayAboutThemselves(t *testing.T) {
	t.Parallel()
	none, forbidden := classify.Verdict{}, classify.Forbidden()
	as := classify.RetryAs
	serverFault, clientFault := faultError(true), faultError(false)
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
		{"a fault of the client, then of the server", errors.Join(clientFault, serverFault), none},
	} {
		for how, err := range wrappings(c.err) {
			t.Run(c.name+"/"+how, func(t *testing.T) {
				t.Parallel()
				require.Equal(t, c.want, verdictOf(err))
			})
		}
	}
}

func TestErrorsOfUnknownSafetyCanBeLeftToTheOtherClassifiers(t *testing.T) {
	t.Parallel()
	chain := changed(t)(classify.Default().Replace("traits", classify.Traits(true)))
	for _, c := range []struct {
		err  error
		want classify.Verdict
	}{
		{unknown, classify.Verdict{}},
		{errors.Join(timeoutError{}, unknown), classify.RetryAs(classify.Timeout)},
		{errors.Join(statusError(429), unknown), classify.RetryAs(classify.Throttling)},
		{errors.Join(statusError(404), unknown), classify.Verdict{}},
		{errors.Join(unknown, no), classify.Forbidden()},
	} {
		require.Equal(t, c.want, chain.Classify(classify.Outcome{Err: c.err}), c.err)
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
		{"client", smithyError{"ValidationException", 2}, classify.Verdict{}},
		{"unknown", smithyError{"Odd", 0}, classify.Verdict{}},
		{"a throttle that is the client's fault", smithyError{"SlowDown", 2}, classify.RetryAs(classify.Throttling)},
		{"server without a code", smithyError{"", 1}, classify.Verdict{}},
		{"server with a final status", errors.Join(statusError(501), server), classify.Verdict{}},
		{"server of unknown safety", errors.Join(unknown, server), classify.RetryAs(classify.Server)},
		{"client of unknown safety", errors.Join(unknown, smithyError{"Odd", 2}), classify.Forbidden()},
		{"with an argument", argumentError{"Odd"}, classify.Verdict{}},
		{"without a text", textlessError{"Odd"}, classify.Verdict{}},
		{"of two", twofoldError{"Odd"}, classify.Verdict{}},
	} {
		for how, err := range wrappings(c.err) {
			t.Run(c.name+"/"+how, func(t *testing.T) {
				t.Parallel()
				require.Equal(t, c.want, verdictOf(err))
			})
		}
	}
}
