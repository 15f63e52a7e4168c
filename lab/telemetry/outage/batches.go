package outage

import (
	"context"
	"time"

	"github.com/awsretry/awsretry/retry"
)

// batches sends a batch of ten messages every ten seconds. In the outage the queue throttles three of them
// inside of each answer.
func (p *program) batches(strategy retry.Strategy) {
	ctx := context.Background()
	op := retry.Operation{Service: "sqs", Region: "eu-central-1", Name: "SendMessageBatch", Resource: "audit"}
	for p.now()+10*time.Second < Length {
		if err := p.clk.Sleep(ctx, 10*time.Second); err != nil {
			return
		}
		token, err := strategy.AcquireInitialToken(ctx, op)
		if err != nil || token.Wait(ctx) != nil || p.clk.Sleep(ctx, 20*time.Millisecond) != nil {
			return
		}
		result := retry.Result{}
		if p.now() >= Begin && p.now() < End {
			result = retry.Result{Throttled: 3, Entries: 10}
		}
		if err := strategy.RecordSuccess(token, result); err != nil {
			return
		}
	}
}
