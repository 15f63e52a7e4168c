// Package classify decides which failures may be retried, and of what kind they are.
// It is of use without the rest of this module too.
//
// # What a verdict is
//
// A [Verdict] asks for a retry of some [Kind], forbids one, or is no opinion, which
// is Verdict{}. [RetryAs] and [Forbidden] make verdicts. A [Classifier] gives its
// verdict on an [Outcome], the failure of one attempt. A [Chain] runs classifiers one
// after the other: the last opinion counts, unless a classifier forbids the retry. An
// error of which no classifier has an opinion is not retried. [Default] is the chain
// for services of AWS, and [Chain.Explain] tells what each of its classifiers said.
//
// A verdict may carry a hint, the time for which the server asked to wait. A chain
// takes it from the error, and so it does with the reach of a throttle, see [Reason]. It may
// also carry a number of attempts for failures of one
// sort, see [Verdict.AtMost].
//
// # How errors speak
//
// The classifiers of Default know an error by its methods. No interface has to be
// named or imported, and the errors of smithy-go and of aws-sdk-go-v2 fit as they are.
//
//	method                                               meaning
//	ErrorCode() string                                   error code of the service; "" is none
//	HTTPStatusCode() int                                 HTTP status of the answer; 0 is none
//	RetryAfter() (after time.Duration, ok bool)          how long the server asks to wait, if ok
//	RetrySafe() (safe, known bool)                       whether the request may be sent again
//	RetryableError() bool                                the same, as aws-sdk-go-v2 says it
//	Throttling() bool                                    true: a throttle
//	ThrottledBy() []classify.Reason                      what a throttle is about; it makes no error a throttle
//	Timeout() bool                                       true: a timeout
//	ServerFault() bool                                   true: fault of the server; false: of the client
//	ClockSkew() (used, observed time.Duration, ok bool)  skews of the clocks, if ok
//	Temporary() bool                                     true: the connection failed
//	ConnectionError() bool                               true: the connection failed
//	CanceledError() bool                                 true: the caller ended the call
//	Service() string                                     id of the service, see Outcome
//
// A negative time of RetryAfter is none. A request that is safe to send again is sent
// again only as far as attempts and quota allow; RetryableError is an answer that is
// always known. Of the skews, used was added to the time with which the request was
// signed, and observed is what [CandidateSkew] returned for the answer.
//
// These methods are found through any wrapping, [errors.Join] and several %w included.
// Where several errors have the same method, the outermost one that has something to
// say counts, and of joined errors the first one. An error that must not be sent again
// counts wherever it is. The end of a context, see [Outcome] for whose it is, and errors
// of the packages net, net/http, os, syscall, crypto/tls and crypto/x509, are known by
// types and sentinels.
// [Traits] says when it asks ErrorFault, a method of smithy-go.
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
// An operation may have a classifier of its own, which replaces the strategy's. If it
// comes from [Also], it adds to the strategy's instead. [Outcome.Judge] is the rule.
// An error that was judged already, by a policy for example, carries its verdict as a
// [JudgedError], and no classifier is asked.
//
// # Limits
//
// Of one failure a chain looks at the first thousand errors, in the order of
// [errors.Is]: each error, then what it wraps. Later errors count as absent, even if
// one of them says that the request must not be sent again. So an error that wraps
// itself has a verdict too, and the other packages of this module come to an end with
// it in the same way. The functions of the standard library know no such limit:
// errors.Is and errors.As do not return from an error that wraps itself unless they
// find what they look for, and so a method of an error that calls them does not
// either.
//
// An error that panics when it is asked has nothing more to say and wraps nothing. A nil
// pointer in an error is one if its methods read a field.
package classify
