package retry_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// A queue that takes two messages in a call throttles the second one once.
func ExampleSendAll() {
	clk := &clock.Fake{}
	strategy, err := standard.New(standard.Config{Clock: clk})
	if err != nil {
		panic(err)
	}
	calls := 0
	batch := retry.Batch[string]{Entries: []string{"a", "b", "c"}, MaxEntries: 2}
	clk.Run(func() {
		sent, err := retry.SendAll(context.Background(), strategy, retry.Operation{}, batch,
			func(_ context.Context, some []string) ([]retry.Sent[string], error) {
				calls++
				sent := make([]retry.Sent[string], len(some))
				for i, message := range some {
					if sent[i].Value = "id of " + message; message == "b" && calls == 1 {
						sent[i].Err = retry.Mark(errors.New("slow down"), classify.Throttling)
					}
				}
				return sent, nil
			})
		fmt.Println(sent[1].Value, err, calls)
	})
	// Output: id of b <nil> 3
}
