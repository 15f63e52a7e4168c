package sim

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/awsretry/awsretry/internal/forecast"
	"github.com/awsretry/awsretry/retry"
)

// Point is the result of calls whose attempts each fail with probability Share, independently.
type Point struct {
	Share, AttemptsPerCall, FailedShare float64
}

// The calls of a point. The first ones do not count. Right of the drain point the very first ones
// all fail, which empties the quota, as it is there in the long run; close to the drain point that
// would take thousands of calls.
const (
	pointCalls = 3000
	warmUp     = 1000
	failFirst  = 200 // more than a quota of 500 tokens pays for
)

// Sweep plays calls, one after another, of a service that fails a share of the attempts and has no
// limit. It returns a point for each share, and the errors of ctx and of the variant.
func Sweep(ctx context.Context, v Variant, seed uint64, shares []float64) ([]Point, error) {
	points := make([]Point, 0, len(shares))
	for _, share := range shares {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		p, err := v.point(share, seed)
		if err != nil {
			return nil, err
		}
		points = append(points, p)
	}
	return points, nil
}

func (v *Variant) point(share float64, seed uint64) (Point, error) {
	clk := NewClock(start())
	c, err := v.newClient(clk, jitter(seed), nil)
	if err != nil {
		return Point{}, err
	}
	plan := c.strategy.Plan(retry.Operation{})
	drains := share > forecast.DrainPoint(plan, plan.RetryCost)
	random := rand.New(rand.NewPCG(4, seed))
	attempts, failed := 0, 0
	clk.Go(func() {
		for i := range warmUp + pointCalls {
			if i == warmUp {
				attempts, failed = 0, 0
			}
			err := c.Do(context.Background(), troubled, func(context.Context) error {
				attempts++
				if random.Float64() < share || drains && i < failFirst {
					return ServiceError{Code: "InternalServerError", Status: 500}
				}
				return nil
			})
			if err != nil {
				failed++
			}
		}
	})
	clk.Run(time.Time{})
	return Point{Share: share, AttemptsPerCall: part(attempts, pointCalls), FailedShare: part(failed, pointCalls)}, nil
}
