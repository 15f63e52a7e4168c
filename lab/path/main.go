// Command path is the smallest program with a retry, for make path.
package main

import (
	"context"
	"errors"
	"time"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/retry"
)

func main() {
	strategy, err := awsretry.Plain(3, time.Millisecond, time.Second)
	if err != nil {
		panic(err)
	}
	failure := retry.Mark(errors.New("once"), classify.Transient)
	_ = retry.DoErr(context.Background(), strategy, retry.Operation{}, func(context.Context) error {
		last := failure
		failure = nil
		return last
	})
}
