//go:build long

package peers

import (
	"context"
	"encoding/binary"
	"io"
	"math"
	"strings"
	"testing"
	"time"
	_ "unsafe" // for the linknames below

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	awsretryer "github.com/aws/aws-sdk-go-v2/aws/retry"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/lab/conformance"
)

// sleepWithContext is what aws-sdk-go-v2 sleeps with, a variable for its own tests.
//
//go:linkname sleepWithContext github.com/aws/aws-sdk-go-v2/internal/sdk.SleepWithContext
var sleepWithContext func(context.Context, time.Duration) error

// randReader is where aws-sdk-go-v2 takes its jitter from, a variable for its own tests.
//
//go:linkname randReader github.com/aws/aws-sdk-go-v2/internal/rand.Reader
var randReader io.Reader

// floor is the shortest sleep of aws-sdk-go-v2 here. Its adaptive mode cuts the wait for a send token to
// whole nanoseconds, so that it wakes a fraction of one too early; on a clock that fires exactly it would
// then sleep for 0, for ever. A real timer is late enough to hide that.
const floor = time.Microsecond

func TestMain(m *testing.M) {
	if sleepWithContext == nil || randReader == nil {
		panic("aws-sdk-go-v2 has no such variable any more: its sleeps would not end, or its jitter cannot be set")
	}
	sleepWithContext = func(ctx context.Context, d time.Duration) error {
		return clock.System{}.Sleep(ctx, max(d, floor))
	}
	m.Run()
}

// jitter is a random source of which aws-sdk-go-v2 makes one number.
type jitter func() float64

// Read writes the 53 bits that the SDK makes a number below 1 of: rand.Int reads as many bytes as the
// bits need, the highest first. The ids of requests are longer, and the same for all.
func (j jitter) Read(p []byte) (int, error) {
	const bits = 1 << 53
	bytes := binary.BigEndian.AppendUint64(make([]byte, len(p)), uint64(min(math.Round(j()*bits), bits-1)))
	return copy(p, bytes[len(bytes)-len(p):]), nil
}

// sdk are the retryers of aws-sdk-go-v2 in its clients.
func sdk() []peer {
	return []peer{sdkColumn(aws.RetryModeStandard), sdkColumn(aws.RetryModeAdaptive)}
}

func sdkColumn(mode aws.RetryMode) peer {
	about := "The same clients in adaptive mode."
	if mode == aws.RetryModeStandard {
		about = "Clients of SQS, DynamoDB and DynamoDB Streams of aws-sdk-go-v2 v" + aws.SDKVersion + ". An answer 429 is final if " +
			"its error is a type of the client and no throttle, such as `ConcurrentModificationException` of CloudWatch, which can " +
			"succeed later; rule C04 makes only hard quotas final."
	}
	return peer{
		column: "SDK " + mode.String(),
		about:  about,
		ways: []conformance.Subject{{
			Name: "clients", Adaptive: mode == aws.RetryModeAdaptive,
			New: func(s *conformance.Settings) (conformance.Do, error) { return newClient(mode, s), nil },
		}},
		setUp: func(t *testing.T) {
			t.Helper()
			usual := randReader
			t.Cleanup(func() { randReader = usual })
		},
		notes: notesOfSDK(mode),
	}
}

// newClient returns a call of a client as a case wants it, and as the SDK builds it where the case has
// no wish.
func newClient(mode aws.RetryMode, s *conformance.Settings) conformance.Do {
	randReader = jitter(s.Random())
	cfg := configOfClients()
	cfg.RetryMode, cfg.RetryMaxAttempts = mode, s.MaxAttempts()
	service := s.Service()
	dynamo := strings.HasPrefix(service, "dynamodb")
	poll := s.LongPolling() && !isSQS(service)
	capacity, longest := uint(s.QuotaCapacity()), s.MaxBackoff()
	if capacity != awsretryer.DefaultRetryRateTokens || longest != awsretryer.DefaultMaxBackoff || poll {
		options := func(o *awsretryer.StandardOptions) {
			o.RateLimiter, o.MaxBackoff = ratelimit.NewTokenRateLimit(capacity), longest
			if dynamo { // the defaults of the service, which a retryer of one's own replaces
				o.MaxAttempts, o.BaseDelay = 4, 25*time.Millisecond
			}
		}
		cfg.Retryer = func() aws.Retryer {
			if mode == aws.RetryModeAdaptive {
				return awsretryer.NewAdaptiveMode(func(o *awsretryer.AdaptiveModeOptions) {
					o.StandardOptions = append(o.StandardOptions, options)
				})
			}
			return awsretryer.NewStandard(options)
		}
	}
	if poll { // with the defaults of its service, in the client that has long polls
		service = ""
	}
	return callOf(cfg, service, s.LongPolling())
}

// canceledBackoff is the note on a retry that is never sent.
func canceledBackoff() note {
	return note{effect: "A call canceled during its backoff keeps the tokens of the retry, so canceled calls drain the quota."}
}

// longHint is the note on a hint that the loop of the SDK reads.
func longHint() note {
	return note{effect: "A hint of more than 292 years overflows. No service is known to send one."}
}

// notesOfSDK says what users of the SDK notice.
func notesOfSDK(mode aws.RetryMode) map[string]note {
	notes := map[string]note{"S07": canceledBackoff(), "S14": longHint()}
	if mode == aws.RetryModeAdaptive {
		notes["S07"], notes["S14"] = ofSDK(canceledBackoff()), ofSDK(longHint())
		notes["A11"] = note{effect: "Chance decides which waiting call is sent next, so a call can be overtaken for long."}
		notes["A14"] = note{effect: "Waiting calls keep the wait of the old rate."}
	}
	return notes
}
