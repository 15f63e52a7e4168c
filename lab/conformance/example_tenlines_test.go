//go:build tenlines

package conformance_test

import (
	"context"
	"testing"
	"time"

	"github.com/awsretry/awsretry/lab/conformance"
)

func retryThrice(ctx context.Context, attempt func(context.Context) error) error {
	backoff := 100 * time.Millisecond
	for n := 1; ; n++ {
		err := attempt(ctx)
		if err == nil || n == 3 {
			return err
		}
		<-time.After(backoff)
		backoff *= 2
	}
}

func TestRetryThrice(t *testing.T) {
	conformance.Run(t, conformance.Subject{
		Name: "retryThrice",
		New:  func(*conformance.Settings) (conformance.Do, error) { return retryThrice, nil },
	})
}
