package classify_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/awsretry/awsretry/classify"
)

// maintenanceClassifier retries what a service under maintenance answers, which it
// does with a status and a code that nobody else retries.
type maintenanceClassifier struct{}

func (maintenanceClassifier) Name() string { return "maintenance" }

// Classify looks at the error of the attempt. Without an opinion it says None, which
// leaves the verdict of others as it is.
func (maintenanceClassifier) Classify(o classify.Outcome) classify.Verdict {
	answer, ok := errors.AsType[classify.CodeError](o.Err)
	if !ok || answer.ErrorCode() != "Maintenance" {
		return classify.None()
	}
	return classify.RetryAfter(classify.Server, 2*time.Second)
}

// Priority lets it run before the classifier of HTTP statuses, so that all built-in
// ones may override what it says. Without this method it would run last.
func (maintenanceClassifier) Priority() classify.Priority {
	return classify.Before(classify.StatusPriority())
}

func Example() {
	chain := classify.Default().With(maintenanceClassifier{})
	verdict, trail := chain.Explain(classify.Outcome{Err: joinAnswer(409, "Maintenance")})
	after, _ := verdict.Hint()
	fmt.Println(verdict, "after", after)
	for _, step := range trail {
		fmt.Println(" ", step)
	}
	fmt.Println(chain.Classify(classify.Outcome{Err: joinAnswer(503, "Maintenance")}))
	fmt.Println(chain.Classify(classify.Outcome{Err: joinAnswer(409, "Conflict")}))
	// Output:
	// retry(server) after 2s
	//   maintenance: retry(server)
	//   http-status: none
	//   aws-code: none
	//   clock-skew: none
	//   modeled: none
	//   transport: none
	//   traits: none
	// retry(transient)
	// none
}

// A built-in classifier runs elsewhere under another priority, and with other
// settings in place of the one of the same name.
func ExampleChain_Replace() {
	chain := classify.Default().Replace(
		classify.Status(502, 503),
		classify.Code(classify.Codes{"Busy": classify.Throttling}),
		classify.WithPriority(classify.Modeled(), classify.After(classify.TransportPriority())),
	)
	for _, err := range []error{joinAnswer(500, ""), joinAnswer(503, ""), joinAnswer(400, "Busy")} {
		fmt.Println(chain.Classify(classify.Outcome{Err: err}))
	}
	// Output:
	// none
	// retry(transient)
	// retry(throttling)
}
