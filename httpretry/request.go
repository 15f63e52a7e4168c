package httpretry

import (
	"net/http"
	"strings"

	"github.com/awsretry/awsretry/retry"
)

// HostOperation is the default of [Config.Operation]. The Name of the operation is the method, and its
// Resource the host and port of the URL in lower case. So all routes of a server share a retry quota and,
// in adaptive mode, a send rate. A function for Config.Operation may call HostOperation and change the
// result, see the example.
func HostOperation(r *http.Request) retry.Operation {
	op := retry.Operation{Name: methodOf(r)}
	if r.URL != nil {
		op.Resource = strings.ToLower(r.URL.Host)
	}
	return op
}

// Idempotent is the default of [Config.Idempotent]. It reports true for the methods GET, HEAD, OPTIONS,
// TRACE, PUT and DELETE (RFC 9110, section 9.2.2), and for requests with a header Idempotency-Key or
// X-Idempotency-Key, the headers that [http.Transport] knows. A function for Config.Idempotent may call it.
func Idempotent(r *http.Request) bool {
	switch methodOf(r) {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, http.MethodPut, http.MethodDelete:
		return true
	}
	for _, key := range [...]string{"Idempotency-Key", "X-Idempotency-Key"} {
		if _, ok := r.Header[key]; ok {
			return true
		}
	}
	return false
}

// methodOf returns the method of a request, which is GET if the field is empty.
func methodOf(r *http.Request) string {
	if r.Method == "" {
		return http.MethodGet
	}
	return r.Method
}
