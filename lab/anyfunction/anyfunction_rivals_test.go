package anyfunction

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	"github.com/failsafe-go/failsafe-go/timeout"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/retry"
)

// program retries work.
type program func(work func(ctx context.Context) error) error

// The same programs with three libraries. Each has a strategy or its options of its own; TestLinesOfRivals counts their lines.
func programs(ctx context.Context) map[string]map[string]program {
	strategy, options := plain(), []backoff.RetryOption{backoff.WithMaxTries(5), backoff.WithBackOff(backoff.NewConstantBackOff(time.Millisecond))}
	return map[string]map[string]program{
		"a transaction, serialization failures and deadlocks retried": {
			"awsretry": func(work func(ctx context.Context) error) error {
				return retry.DoErr(ctx, strategy, retry.Operation{NotIdempotent: true}, work)
			},
			"cenkalti/backoff": func(work func(ctx context.Context) error) error {
				_, err := backoff.Retry(ctx, func() (any, error) {
					err := work(ctx)
					var pg *pgconn.PgError
					if err != nil && (!errors.As(err, &pg) || pg.Code != "40001" && pg.Code != "40P01") {
						return nil, backoff.Permanent(err)
					}
					return nil, err
				}, options...)
				return err
			},
			"failsafe-go": func(work func(ctx context.Context) error) error {
				policy := retrypolicy.NewBuilder[any]().WithMaxAttempts(5).WithDelay(time.Millisecond).HandleIf(func(_ any, err error) bool {
					var pg *pgconn.PgError
					return errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01")
				}).Build()
				return failsafe.With(policy).WithContext(ctx).RunWithExecution(func(e failsafe.Execution[any]) error {
					return work(e.Context())
				})
			},
		},
		"a call of gRPC, `Unavailable` and throttles retried": {
			"awsretry": func(work func(ctx context.Context) error) error {
				return retry.DoErr(ctx, strategy, retry.Operation{}, work)
			},
			"cenkalti/backoff": func(work func(ctx context.Context) error) error {
				_, err := backoff.Retry(ctx, func() (any, error) {
					err := work(ctx)
					if err != nil && status.Code(err) != codes.Unavailable && status.Code(err) != codes.ResourceExhausted {
						return nil, backoff.Permanent(err)
					}
					return nil, err
				}, options...)
				return err
			},
			"failsafe-go": func(work func(ctx context.Context) error) error {
				policy := retrypolicy.NewBuilder[any]().WithMaxAttempts(5).WithDelay(time.Millisecond).HandleIf(func(_ any, err error) bool {
					return status.Code(err) == codes.Unavailable || status.Code(err) == codes.ResourceExhausted
				}).Build()
				return failsafe.With(policy).WithContext(ctx).RunWithExecution(func(e failsafe.Execution[any]) error {
					return work(e.Context())
				})
			},
		},
		"any error retried, within a budget": {
			"awsretry": func(work func(ctx context.Context) error) error {
				ctx, cancel := context.WithTimeout(ctx, time.Minute)
				defer cancel()
				return retry.DoErr(ctx, strategy, retry.Operation{}, func(ctx context.Context) error {
					return retry.Mark(work(ctx), classify.Transient)
				})
			},
			"cenkalti/backoff": func(work func(ctx context.Context) error) error {
				ctx, cancel := context.WithTimeout(ctx, time.Minute)
				defer cancel()
				_, err := backoff.Retry(ctx, func() (any, error) { return nil, work(ctx) }, options...)
				return err
			},
			"failsafe-go": func(work func(ctx context.Context) error) error {
				policy := retrypolicy.NewBuilder[any]().WithMaxAttempts(5).WithDelay(time.Millisecond).Build()
				return failsafe.With(timeout.New[any](time.Minute), policy).RunWithExecution(func(e failsafe.Execution[any]) error {
					return work(e.Context())
				})
			},
		},
	}
}

func TestProgramsWithThreeLibraries(t *testing.T) {
	t.Parallel()
	failures := map[string]error{
		"a transaction, serialization failures and deadlocks retried": &pgconn.PgError{Code: "40001"},
		"a call of gRPC, `Unavailable` and throttles retried":         status.Error(codes.Unavailable, "draining"),
		"any error retried, within a budget":                          errors.New("any"),
	}
	for title, libraries := range programs(t.Context()) {
		for library, run := range libraries {
			attempts := 0
			require.NoError(t, run(func(context.Context) error {
				if attempts++; attempts < 3 {
					return failures[title]
				}
				return nil
			}), "%s, %s", title, library)
			require.Equal(t, 3, attempts, "%s, %s", title, library)
		}
	}
}

// The lines of the functions above are those in the table of docs/any-function.md.
func TestLinesOfRivals(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/any-function.md")
	require.NoError(t, err)
	files := token.NewFileSet()
	source, err := parser.ParseFile(files, "anyfunction_rivals_test.go", nil, 0)
	require.NoError(t, err)
	rows := 0
	ast.Inspect(source, func(n ast.Node) bool {
		row, ok := n.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		key, named := row.Key.(*ast.BasicLit)
		cells, ok := row.Value.(*ast.CompositeLit)
		if !named || !ok {
			return true
		}
		title, err := strconv.Unquote(key.Value)
		require.NoError(t, err)
		want := []any{title}
		for _, cell := range cells.Elts {
			run := cell.(*ast.KeyValueExpr).Value.(*ast.FuncLit)
			want = append(want, files.Position(run.Body.End()).Line-files.Position(run.Pos()).Line-1)
		}
		require.Contains(t, string(page), fmt.Sprintf("| %s | %d | %d | %d |", want...))
		rows++
		return false
	})
	require.Equal(t, 3, rows)
}
