// Command function retries a function of its own.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/retry"
)

func main() {
	ctx := context.Background()
	strategy, err := awsretry.Load(ctx)
	if err != nil {
		log.Fatal(err)
	}
	calls := 0
	order, err := retry.Do(ctx, strategy, retry.Operation{}, func(context.Context) (string, error) {
		if calls++; calls < 3 {
			return "", retry.Mark(errors.New("not there yet"), classify.Transient)
		}
		return "order 17", nil
	})
	fmt.Println(order, err, "after", calls, "calls")
}
