// Command quickstart resolves the retry settings of the user that runs it, says where they
// come from, and retries a function with them.
//
//	AWS_PROFILE=x AWS_RETRY_MODE=adaptive go run ./examples/quickstart
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/retry"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer) error {
	settings, err := awsretry.Resolve(ctx)
	if err != nil {
		return err // it names the value, its place and what would be accepted
	}
	fmt.Fprintf(out, "mode %s from %v\n", settings.RetryMode.Value, settings.RetryMode.Origin)
	fmt.Fprintf(out, "%d attempts from %v\n", settings.MaxAttempts.Value, settings.MaxAttempts.Origin)

	strategy, err := awsretry.New(settings)
	if err != nil {
		return err
	}
	order, err := retry.Do(ctx, strategy, retry.Operation{Name: "FetchOrder"}, func(ctx context.Context) (string, error) {
		attempt, _ := retry.AttemptFrom(ctx)
		if attempt.Number < 3 {
			fmt.Fprintf(out, "attempt %d: not there yet\n", attempt.Number)
			return "", retry.Mark(errors.New("not there yet"), classify.Transient)
		}
		return "order 17", nil
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s after the backoff of two retries\n", order)
	return nil
}
