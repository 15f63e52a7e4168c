// Package httpretry retries the requests of any [net/http] client: [Transport] is
// an [http.RoundTripper] over a strategy of this module, and leaves everything else
// to the round tripper below it.
//
// A client sees of it what it would see of a slow server. When the attempts of a
// request are used up, or the client gives up for another reason, the last response
// comes back as it was sent, its body unread; [Refusal] says why there was no
// further attempt. An error comes back where there is no response, and where the
// request's context has ended.
//
// The client's own deadlines hold: the context of the request and the Timeout of
// [http.Client] bound everything, and a backoff that would not end before them is
// not begun. A redirect is a request of its own, with attempts of its own.
//
// # What is sent again
//
// The strategy decides what is retried, see package classify. Two things have to
// be true besides, unless [Config.Policy] asks for the retry:
//
//   - The request may be executed twice, which [Config.Idempotent] says, or the
//     failure says that it was not executed once: no connection, a throttle, or
//     status 503 with the time to come again.
//   - The body can be sent again: there is none, the request has GetBody, or nothing
//     of it has been read yet. This holds in any case.
//
// # Where it belongs
//
// Put it around a round tripper that signs, so that each attempt has a signature of
// its own, and inside one that counts requests. Do not put it below a client that
// retries by itself, such as one of an AWS SDK: their attempts multiply.
package httpretry
