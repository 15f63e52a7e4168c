package standard_test

import (
	"fmt"
	"log"

	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// A Config without numbers follows v2.1; v2.0 has to be asked for.
func ExampleNew() {
	strategy, err := standard.New(standard.Config{Behavior: retry.V20})
	if err != nil {
		log.Fatal(err)
	}

	today, err := standard.New(standard.Config{})
	if err != nil {
		log.Fatal(err)
	}
	table := retry.Operation{Service: "dynamodb"}
	for _, plan := range []retry.Plan{today.Plan(table), strategy.Plan(table)} {
		fmt.Println(plan.MaxAttempts, plan.Base, plan.ThrottlingBase, plan.RetryCost, plan.TimeoutCost, plan.ThrottlingCost)
	}
	// Output:
	// 4 25ms 1s 14 14 5
	// 3 1s 1s 5 10 5
}
