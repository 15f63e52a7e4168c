package httpretry

import (
	"net/http"
	"strings"

	"github.com/awsretry/awsretry/retry"
)

// HostOperation is the operation of a request unless Config.Operation says
// otherwise: its name is the method, and its resource the host and port of the
// URL in lower case, so that each server has a retry quota and a send rate of its
// own. The service is that of the strategy.
func HostOperation(r *http.Request) retry.Operation {
	op := retry.Operation{Name: methodOf(r)}
	if r.URL != nil {
		op.Resource = strings.ToLower(r.URL.Host)
	}
	return op
}

// Idempotent reports whether a request may be executed twice without harm, as far
// as HTTP says so: the methods GET, HEAD, OPTIONS, TRACE, PUT and DELETE of RFC
// 9110, section 9.2.2, and any request with a header Idempotency-Key or
// X-Idempotency-Key, as net/http has it.
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

// methodOf knows that an empty method is GET.
func methodOf(r *http.Request) string {
	if r.Method == "" {
		return http.MethodGet
	}
	return r.Method
}
