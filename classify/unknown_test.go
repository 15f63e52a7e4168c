package classify_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/testonly/vectors"
)

func TestUnknownSaysNothingButItsText(t *testing.T) {
	t.Parallel()
	for want, errs := range map[bool][]error{
		true: {errors.New("busy"), fmt.Errorf("save: %w", errors.New("busy")), errors.Join(errors.New("a"), errors.New("b"))},
		false: {
			nil, context.Canceled, context.DeadlineExceeded, io.ErrUnexpectedEOF, sqlError("23505"), &MySQLError{1062},
			vectors.Response{Status: 404}.Err(), vectors.Response{Status: 400, ErrorCode: "ValidationException"}.Err(),
			&classify.JudgedError{Err: errors.New("busy")},
			rpcError{&grpcStatus{code: 10}},
		},
	} {
		for _, err := range errs {
			require.Equal(t, want, classify.Unknown(err), "%v", err)
		}
	}
}
