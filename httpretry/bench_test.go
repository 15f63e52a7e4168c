package httpretry_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/retry"
)

// instant is a base that answers at once and always the same.
type instant struct{ response *http.Response }

func (i instant) RoundTrip(*http.Request) (*http.Response, error) { return i.response, nil }

func BenchmarkRoundTrip(b *testing.B) {
	for _, c := range []struct {
		name   string
		config httpretry.Config
	}{
		{"defaults", httpretry.Config{}},
		{"attempt timeout", httpretry.Config{AttemptTimeout: retry.FixedTimeout{First: time.Minute}}},
		{"SDK headers", httpretry.Config{SDKHeaders: true}},
	} {
		b.Run("case="+c.name, func(b *testing.B) {
			request := newRequest(b.Context(), b, http.MethodGet, "http://service/path", "")
			request.Header.Set("Authorization", "Bearer x")
			request.Header.Set("Accept", "application/json")
			c.config.Strategy = on(b, nil)
			c.config.Base = instant{&http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: request}}
			transport, err := httpretry.New(c.config)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				response, err := transport.RoundTrip(request)
				if err != nil {
					b.Fatal(err)
				}
				_ = response.Body.Close()
			}
		})
	}
}
