// Package httpretry retries the requests of any [net/http] client. A [Transport] is an
// [http.RoundTripper] around another one: it sends a request again where a strategy of this
// module asks for it.
//
// # A client that retries
//
// [New] makes a Transport from a [Config] with a strategy, which comes from awsretry.Load,
// standard.New or adaptive.New. The Transport then is the Transport of an [http.Client]:
//
//	transport, err := httpretry.New(httpretry.Config{Strategy: strategy})
//	client := &http.Client{Transport: transport}
//
// The context of a request and the Timeout of the client limit all attempts together. A
// backoff that would end after that is refused at once. [Config.AttemptTimeout] limits each
// attempt. A redirect is a request of its own, with attempts of its own.
//
// # Why there was no further attempt
//
// Where attempts, quota or time are used up, RoundTrip returns the last response as the
// server sent it, with its body unread. [Refusal] says why the request was not sent again.
// With [Config.RefusalAsError], RoundTrip returns that error in place of the response. It also
// returns an error where there is no response, and where the context of the request has ended.
//
// A server may stall in the body of a failed response. The Transport looks into the body for a
// second at most, in search of an error code and to use the connection again, and then goes by
// status and headers only. The caller gets the whole body all the same: what was read, and
// what is still to come.
//
// # What is sent again
//
// The classifiers of the strategy decide which failures are retried, see package classify.
// They see a response with a status of 400 or more as a [*ResponseError]. Two rules of this
// package come on top:
//
//   - The request may be executed twice, see [Config.Idempotent], or the failure says that the
//     server did not execute it: there was no connection, the failure is a throttle, the
//     status is 503 and a header says when to come again, or the server refused the stream of
//     the request or ended the connection before it (REFUSED_STREAM and GOAWAY of HTTP/2). An error that [Config.Policy] has
//     marked with [retry.Mark] overrides this rule.
//   - The body can be sent again: there is none, the request has GetBody, or no byte of the
//     body has been read yet. This rule always holds.
//
// A retry that such a rule stops is an event of kind [retry.RetryRefused] with the rule as its
// reason.
//
// # What shares a quota and a send rate
//
// The requests of a host share a retry quota and, in adaptive mode, a send rate, see
// [HostOperation]. So one route that is throttled slows all others of its host, and drains
// their quota. [Config.Operation] changes that: the example of [HostOperation] gives each
// route a scope of its own. [With] changes the Config for the requests of one context.
//
// # Where it belongs
//
// Put a Transport around a round tripper that signs, so that each attempt has a signature of
// its own, and inside one that counts requests. Do not put it below a client that retries by
// itself, such as one of an AWS SDK, because the attempts of the two multiply; [retry.Once]
// keeps requests to one attempt where that cannot be avoided.
package httpretry
