// Package conformance holds a retryer against the retry rules of the AWS SDKs: what a retry costs,
// how long it waits, when it is refused, what adaptive mode does to the send rate, and which
// failures are retried.
//
// The suite stands where a service stands. It sees when an attempt arrives, gives the answer of the
// case, and sees how the operation ends. It reads nothing of the retryer, so that it takes any loop
// that can be called as a [Do]:
//
//	func TestMyRetryer(t *testing.T) {
//		conformance.Run(t, conformance.Subject{
//			Name: "my retryer",
//			New: func(*conformance.Settings) (conformance.Do, error) { return myRetryer, nil },
//		})
//	}
//
// [FromRetryer] makes a Do of an [aws.Retryer], with the loop of the SDK, and [FromStrategy] of a
// [retry.Strategy]. Loops of HTTP clients use [HTTPResponse].
//
// Each case runs in a bubble of [testing/synctest]: time passes when all goroutines sleep, so that
// the backoffs of hours take milliseconds, and the suite measures them to the nanosecond. The
// retryer must sleep with package time or wait for a context, and goroutines that it starts must end
// with their operation. A retryer that never stops without a sleep, or that waits for a mutex for ever,
// ends only with the time limit of go test.
//
// # How the suite reads the quota
//
// At the end of a case the suite makes operations that fail with throttles until a retry is refused,
// five tokens for each retry, and then successes, one token for each, until a retry is granted. A
// retryer that never refuses a retry has no quota.
//
// # Rules
//
// The names S01 to S22 are rules of standard mode, A01 to A18 of adaptive mode, and C01 to C08 of the
// classification of failures. [Report] has the wording of each. Cases of a generation that is not the
// subject's are left out. The suite leaves out S23, which needs several scopes, and what cannot be
// seen from outside: A12 (costs above one token), A13 (a clock that goes back), C09 and C10 (the
// model of a service and the signature of a request). For S22 it sees that there is no retry, not what
// the operation costs. In adaptive mode the wait for the send rate can hide a backoff.
//
// A case depends on several rules. Where it does not end as wanted, the suite names the rule that
// explains the most, and says of the others that they were not asked. They may show after that rule is
// mended.
package conformance
