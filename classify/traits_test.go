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
	serverFault, clientFault := faultError(true), faultError(false)
	requireVerdicts(t, []row{
		{"no", no, forbidden},
		{"no under a server error", errors.Join(statusError(503), no), forbidden},
		{"no under a throttle", errors.Join(codeError("SlowDown"), throttlingError(true), no), forbidden},
		{"no under a timeout", fmt.Errorf("%w, %w", timeoutError{}, no), forbidden},
		{"no under yes", errors.Join(yes, no), forbidden},
		{"no under unknown", errors.Join(unknown, no), forbidden},
		{"no by RetryableError", errors.Join(statusError(500), retryableError(false)), forbidden},

		{"yes", yes, transient},
		{"yes for a final status", errors.Join(statusError(404), yes), transient},
		{"yes by RetryableError", errors.Join(statusError(400), codeError("Conflict"), retryableError(true)), transient},
		{"yes keeps a throttle", errors.Join(statusError(429), yes), throttle},
		{"yes keeps a timeout", errors.Join(timeoutError{}, yes), timeout},
		{"yes keeps a status", errors.Join(statusError(503), yes), transient},
		{"yes and a fault of the server", errors.Join(yes, serverFault), ofServer},
		{"yes and a fault of the client", errors.Join(yes, clientFault), ofClient},
		{"yes before unknown", errors.Join(yes, unknown), transient},
		{"yes to a skewed signature", errors.Join(codeError("AccessDeniedException"), yes), transient},
		{"RetryableError of a skewed signature", errors.Join(codeError("AccessDeniedException"), retryableError(true)), skew},
		{"yes for what the caller ended", errors.Join(context.Canceled, yes), none},

		{"unknown", unknown, forbidden},
		{"unknown and a timeout", errors.Join(timeoutError{}, unknown), forbidden},
		{"unknown and a throttle", errors.Join(statusError(429), unknown), forbidden},
		{"unknown and a final status", errors.Join(statusError(404), unknown), forbidden},
		{"unknown and a fault of the client", errors.Join(statusError(503), unknown, clientFault), forbidden},
		{"unknown and a fault of the server", errors.Join(unknown, serverFault), ofServer},
		{"unknown, a timeout and a fault of the server", errors.Join(timeoutError{}, unknown, serverFault), timeout},
		{"unknown and a status of the server", errors.Join(statusError(503), unknown), transient},
		{"unknown and a final status of the server", errors.Join(statusError(501), unknown), ofServer},
		{"unknown and the first status of the server", errors.Join(statusError(500), unknown), transient},
		{"unknown and the last status that is not the server's", errors.Join(statusError(499), unknown), forbidden},

		{"a throttle", throttlingError(true), throttle},
		{"a throttle over a server error", errors.Join(statusError(503), throttlingError(true)), throttle},
		{"a throttle over a reset", errors.Join(timeoutError{}, throttlingError(true)), throttle},
		{"a throttle below what is none", errors.Join(throttlingError(false), throttlingError(true)), throttle},
		{"no throttle", throttlingError(false), none},

		{"a fault of the server", serverFault, ofServer},
		{"a fault of the server and a final status", errors.Join(statusError(404), serverFault), ofServer},
		{"a fault of the server and a status", errors.Join(statusError(503), serverFault), transient},
		{"a fault of the client", clientFault, none},
		{"a fault of the client and a status", errors.Join(statusError(503), clientFault), transient},
		{"a fault of the client, then of the server", errors.Join(clientFault, serverFault), none},
	})
}

func TestErrorsOfUnknownSafetyCanBeLeftToTheOtherClassifiers(t *testing.T) {
	t.Parallel()
	chain := changed(t)(classify.Default().Replace("traits", classify.Traits(true)))
	for _, c := range []struct {
		err  error
		want classify.Verdict
	}{
		{unknown, none},
		{errors.Join(timeoutError{}, unknown), timeout},
		{errors.Join(statusError(429), unknown), throttle},
		{errors.Join(statusError(404), unknown), none},
		{errors.Join(unknown, no), forbidden},
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
	requireVerdicts(t, []row{
		{"server", server, ofServer},
		{"client", smithyError{"ValidationException", 2}, none},
		{"unknown", smithyError{"Odd", 0}, none},
		{"a throttle that is the client's fault", smithyError{"SlowDown", 2}, throttle},
		{"server without a code", smithyError{"", 1}, none},
		{"server with a final status", errors.Join(statusError(501), server), none},
		{"server of unknown safety", errors.Join(unknown, server), ofServer},
		{"client of unknown safety", errors.Join(unknown, smithyError{"Odd", 2}), forbidden},
		{"with an argument", argumentError{"Odd"}, none},
		{"without a text", textlessError{"Odd"}, none},
		{"of two", twofoldError{"Odd"}, none},
	})
}
