// Package conformance tests a retryer against the retry rules of the AWS SDKs: what a retry costs,
// how long it waits, when it is refused, what adaptive mode does to the send rate, and which
// failures are retried.
//
// The suite plays the service. It sees when an attempt arrives, returns the answer of the case, and
// sees how the operation ends. It reads no state of the retryer, so it can test any loop that can
// be called as a [Do]:
//
//	func TestMyRetryer(t *testing.T) {
//		conformance.Run(t, conformance.Subject{
//			Name: "my retryer",
//			New: func(*conformance.Settings) (conformance.Do, error) { return myRetryer, nil },
//		})
//	}
//
// [FromRetryer] makes a Do from an [aws.Retryer], with the loop of the SDK, and [FromStrategy] makes
// one from a [retry.Strategy]. Loops of HTTP clients use [HTTPResponse].
//
// Each case runs in a bubble of [testing/synctest]: time passes when all goroutines sleep, so hours of
// backoff take milliseconds, and the suite measures them to the nanosecond. The retryer must sleep with
// package time or wait for a context, and its goroutines must end with their operation. A retryer that
// retries forever without a sleep, or blocks forever on a mutex, ends only with the time limit of go
// test.
//
// # How the suite reads the quota
//
// At the end of a case the suite makes operations that fail with throttles until a retry is refused;
// each retry takes five tokens. Then it makes successes, each worth one token, until a retry is
// granted. A retryer that never refuses a retry has no quota.
//
// # Rules
//
// S01 to S22 are the rules of standard mode, A01 to A18 of adaptive mode, and C01 to C08 of the
// classification of failures. [Report] has the wording of each. The suite skips cases of a generation
// other than the subject's. It leaves out S14c, which is not a rule of the SDKs, S23, which needs several
// scopes, A19, which needs throttles that name a part of a scope, and what it cannot see from outside: A12
// (costs above one token), A13 (a clock that goes back), C09 and C10 (the model of a service and the
// signature of a request). For S22 it sees that there is no retry, but not what the operation costs. In
// adaptive mode the wait for the send rate can hide a backoff.
//
// A case depends on several rules. If it fails, the suite names the rule that explains the most
// failures, and reports the others as not asked. They may fail after that rule is fixed.
package conformance
