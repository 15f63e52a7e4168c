// Package httpretry retries the requests of any [net/http] client. A [Transport] is an
// [http.RoundTripper] around another one, and sends a request again if a strategy of awsretry says
// so.
//
// # A client that retries
//
// [New] makes a Transport from a [Config] with a strategy of awsretry.Load, standard.New or
// adaptive.New:
//
//	transport, err := httpretry.New(httpretry.Config{Strategy: strategy})
//	client := &http.Client{Transport: transport}
//
// The context of a request and the Timeout of the client limit all attempts together. A backoff that
// would end later is refused at once. [Config.AttemptTimeout] limits each attempt. A redirect is a new
// request with its own attempts.
//
// # Why there was no further attempt
//
// If attempts, quota or time are used up, RoundTrip returns the last response as the server sent
// it, with its body unread. [Refusal] says why the request was not sent again. With
// [Config.RefusalAsError], RoundTrip returns that error instead. It also returns an error if there is
// no response, or if the context of the request has ended.
//
// The Transport reads the body of a failed response for at most a second, to find an error code and to
// reuse the connection. If the server stalls, only the status and the headers count. The caller still
// gets the whole body.
//
// # What is sent again
//
// The classifiers of the strategy decide which failures are retried, see package classify.
// They see a response with a status of 400 or more as a [*ResponseError]. Two rules of this
// package must hold as well:
//
//   - The request may run twice, see [Config.Idempotent], or the failure says that the server did
//     not execute it: there was no connection; the failure is a throttle; the status is 503 and a
//     header says when to come again; or an HTTP/2 server refused the stream (REFUSED_STREAM) or
//     ended the connection before it (GOAWAY). An error that [Config.Policy] marks with [retry.Mark]
//     overrides this rule.
//   - The body can be sent again: there is none, the request has GetBody, or no byte of the body has
//     been read. Nothing overrides this rule.
//
// If a rule stops a retry, the event is [retry.RetryRefused] with the rule as its reason.
//
// # What shares a quota and a send rate
//
// The requests to a host share a retry quota and, in adaptive mode, a send rate, see [HostOperation].
// So one throttled route slows all routes of its host and drains their quota. [Config.Operation]
// changes that: the example of [HostOperation] gives each route its own scope. [With] changes the Config
// for the requests of one context.
//
// # Where it belongs
//
// Put a Transport around a round tripper that signs, so that each attempt has its own signature, and
// inside one that counts requests. Do not put it below a client that retries, such as one of an AWS
// SDK, because attempts would multiply. If you must, [retry.Once] limits requests to one attempt.
package httpretry
