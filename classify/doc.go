// Package classify decides which failures may be retried, and of what kind they are.
// It also works without the rest of this module.
//
// # What a verdict is
//
// A [Verdict] asks for a retry of some [Kind], forbids one, or is no opinion, which
// is Verdict{}. [RetryAs] and [Forbidden] make verdicts. A [Classifier] gives its
// verdict on an [Outcome], the failure of one attempt. A [Chain] runs classifiers in
// order: the last opinion counts, unless a classifier forbids the retry. Without an
// opinion an error is not retried. [Default] is the chain for services of AWS, and
// [Chain.Explain] returns what each of its classifiers said, as a [Trail].
//
// A verdict may carry a hint, which is how long the server asks to wait, and the reach
// of a throttle, see [Reason]; a chain takes both from the error. It may also limit the
// attempts for one sort of failure, see [Verdict.AtMost].
//
// # Methods that classifiers look for
//
// The classifiers of Default read an error's methods. You import nothing, and the errors
// of smithy-go and aws-sdk-go-v2 work as they are.
//
//	method                                               meaning
//	ErrorCode() string                                   error code of the service; "" is none
//	HTTPStatusCode() int                                 HTTP status of the answer; 0 is none
//	RetryAfter() (after time.Duration, ok bool)          how long the server asks to wait, if ok
//	RetryAfterInFull() bool                              true: an attempt before that time is of no use
//	RetrySafe() (safe, known bool)                       whether the request may be sent again
//	RetryableError() bool                                the same, as aws-sdk-go-v2 says it
//	Throttling() bool                                    true: a throttle
//	ThrottledBy() []classify.Reason                      what a throttle is about; it makes no error a throttle
//	Timeout() bool                                       true: a timeout
//	ServerFault() bool                                   true: fault of the server; false: of the client
//	ClockSkew() (used, observed time.Duration, ok bool)  skews of the clocks, if ok
//	Temporary() bool                                     true: the connection failed
//	ConnectionError() bool                               true: the connection failed
//	CanceledError() bool                                 true: the caller ended the call; final
//	Service() string                                     id of the service, see Outcome
//
// A negative time of RetryAfter is ignored. A request that is safe to send again is sent again only
// while attempts and quota allow. RetryableError always has an answer. In ClockSkew, used was added to
// the time that the request was signed with, and observed is what [CandidateSkew] returned for the
// answer.
//
// These methods are found through any wrapping, [errors.Join] and several %w included. If several
// errors have a method, the outermost one with something to say counts; of joined errors, the first. An
// error that must not be sent again counts wherever it is. Errors of contexts, see [Outcome] for whose
// they are, and of the packages net, net/http, os, syscall, crypto/tls and crypto/x509 are known by
// types and sentinels. [Traits] says when it calls ErrorFault, a method of smithy-go.
//
// # Changing a chain
//
// [Chain.InsertBefore], [Chain.InsertAfter], [Chain.Replace] and [Chain.Without] return
// another chain. They take the names of classifiers, such as "http-status", and return
// an error if the chain has no classifier of this name. [Status], [Code], [Skew] and
// [Traits] make the built-in classifiers with other settings. [NewChain] makes a chain
// from nothing, and [AWSCompatible] is the one for services that only resemble those
// of AWS.
//
// # One operation
//
// An operation may have its own classifier, which replaces the strategy's. If it comes from [Also], it
// adds to the strategy's instead. [Outcome.Judge] has the rules. An error that was already judged, for
// example by a policy, carries its verdict as a [JudgedError], and no classifier is asked.
//
// # Limits
//
// A chain inspects at most 1,000 errors per failure, in the order of [errors.Is]: each error, then what
// it wraps. Later errors count as absent, even if one of them says that the request must not be sent
// again. So an error that wraps itself gets a verdict, here and in the other packages of this module.
// The standard library has no such limit: for an error that wraps itself, errors.Is and errors.As do
// not return unless they find their target, and neither does an error's method that calls them.
//
// An error whose methods panic, such as a nil pointer to a struct that they read, says
// nothing more and wraps nothing.
package classify
