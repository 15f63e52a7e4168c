package adopters

import (
	"context"
	"errors"
	"flag"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/kinesis"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/retry"
)

// hermetic lets no file and no variable of the machine count.
func hermetic(t *testing.T) []func(*config.LoadOptions) error {
	t.Helper()
	for _, name := range []string{
		"AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_RETRY_MODE", "AWS_MAX_ATTEMPTS", "AWS_CA_BUNDLE", "AWS_ENDPOINT_URL",
	} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_CONFIG_FILE", os.DevNull)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", os.DevNull)
	return []func(*config.LoadOptions) error{
		config.WithRegion("eu-central-1"), config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider("ID", "SECRET", "")),
	}
}

// call makes a call as a client of the service does, whose attempts fail with these codes and
// then succeed. It returns how many attempts there were.
func call(t *testing.T, cfg aws.Config, service, operation string, codes ...string) (attempts int, err error) {
	t.Helper()
	failures := make([]error, len(codes))
	for i, code := range codes {
		failures[i] = &smithy.GenericAPIError{Code: code}
	}
	return callFailing(t, cfg, service, operation, failures...)
}

// callFailing is call with the errors of the attempts.
func callFailing(t *testing.T, cfg aws.Config, service, operation string, failures ...error) (attempts int, err error) {
	t.Helper()
	stack := middleware.NewStack(operation, smithyhttp.NewStackRequest)
	require.NoError(t, stack.Finalize.Add(sdkretry.NewAttemptMiddleware(cfg.Retryer(), smithyhttp.RequestCloner), middleware.After))
	for _, option := range cfg.APIOptions {
		require.NoError(t, option(stack))
	}
	ctx := awsmiddleware.SetServiceID(t.Context(), service)
	ctx = awsmiddleware.SetOperationName(awsmiddleware.SetRegion(ctx, cfg.Region), operation)
	handler := middleware.HandlerFunc(func(context.Context, any) (any, middleware.Metadata, error) {
		if attempts++; attempts <= len(failures) {
			return nil, middleware.Metadata{}, failures[attempts-1]
		}
		return nil, middleware.Metadata{}, nil
	})
	_, _, err = middleware.DecorateHandler(handler, stack).Handle(ctx, nil)
	return attempts, err
}

// scopes returns the names of the scopes of a config, and of those that are limited.
func scopes(t *testing.T, cfg aws.Config) (all, limited []string) {
	t.Helper()
	strategy, ok := awssdk.StrategyOf(cfg)
	require.True(t, ok)
	for _, scope := range strategy.Snapshot().Scopes[1:] {
		if all = append(all, scope.Scope); scope.Limited {
			limited = append(limited, scope.Scope)
		}
	}
	return all, limited
}

func TestOperationsOfEC2DoNotSlowEachOther(t *testing.T) {
	load := hermetic(t)
	synctest.Test(t, func(t *testing.T) {
		cfg, err := EBSDriver(t.Context(), load...)
		require.NoError(t, err)
		attempts, err := call(t, cfg, "EC2", "CreateVolume", "RequestLimitExceeded", "RequestLimitExceeded")
		require.NoError(t, err)
		require.Equal(t, 3, attempts)
		began := time.Now()
		_, err = call(t, cfg, "EC2", "AttachVolume")
		require.NoError(t, err)
		require.Zero(t, time.Since(began))
		all, limited := scopes(t, cfg)
		require.Equal(t, []string{"ec2/eu-central-1/AttachVolume", "ec2/eu-central-1/CreateVolume"}, all)
		require.Equal(t, []string{"ec2/eu-central-1/CreateVolume"}, limited)
		require.Equal(t, 50, cfg.Retryer().MaxAttempts())
	})
}

func TestLimitsOfTheLoadBalancerControllerHoldForEveryAttempt(t *testing.T) {
	load := hermetic(t)
	synctest.Test(t, func(t *testing.T) {
		cfg, err := LoadBalancerController(t.Context(), load...)
		require.NoError(t, err)
		const service = "Elastic Load Balancing v2"
		for operation, limit := range map[string]adaptive.SendLimit{"RegisterTargets": {Ceiling: 4, Burst: 20}, "DescribeListeners": {Ceiling: 10, Burst: 40}} {
			began := time.Now()
			for range 100 {
				_, err := call(t, cfg, service, operation)
				require.NoError(t, err)
			}
			require.InDelta(t, (100-limit.Burst)/float64(limit.Ceiling), time.Since(began).Seconds(), 1e-6, operation)
		}
		_, err = call(t, cfg, service, "DeregisterTargets")
		require.NoError(t, err)
		_, err = call(t, cfg, "WAFV2", "AssociateWebACL")
		require.NoError(t, err)
		all, _ := scopes(t, cfg)
		require.Equal(t, []string{
			"elastic load balancing v2/eu-central-1", "elastic load balancing v2/eu-central-1/targets", "wafv2/eu-central-1/change ACL",
		}, all)
	})
}

func TestAccountsOfSteampipeShareAStrategyAndNoSendRate(t *testing.T) {
	load := hermetic(t)
	synctest.Test(t, func(t *testing.T) {
		strategy, err := Steampipe(t.Context(), 9, 25*time.Millisecond)
		require.NoError(t, err)
		busy, err := SteampipeConnection(t.Context(), strategy, "111122223333", load...)
		require.NoError(t, err)
		quiet, err := SteampipeConnection(t.Context(), strategy, "444455556666", load...)
		require.NoError(t, err)
		began := time.Now()
		attempts, err := call(t, busy, "IAM", "ListRoles", "UnknownError", "Throttling", "Throttling")
		require.NoError(t, err)
		require.Equal(t, 4, attempts)
		require.GreaterOrEqual(t, time.Since(began), 75*time.Millisecond)
		began = time.Now()
		_, err = call(t, quiet, "IAM", "ListRoles")
		require.NoError(t, err)
		require.Zero(t, time.Since(began))
		all, limited := scopes(t, busy)
		require.Equal(t, []string{"111122223333/iam/aws-global", "444455556666/iam/aws-global"}, all)
		require.Equal(t, all[:1], limited)
	})
}

func TestFlagOfExternalDNSMeansRetries(t *testing.T) {
	load := hermetic(t)
	t.Setenv("AWS_RETRY_MODE", "adaptive")
	synctest.Test(t, func(t *testing.T) {
		cfg, err := ExternalDNS(t.Context(), "", 3, load...)
		require.NoError(t, err)
		attempts, err := call(t, cfg, "Route 53", "ChangeResourceRecordSets", "Throttling", "Throttling", "Throttling", "Throttling")
		require.Error(t, err)
		require.Equal(t, 4, attempts)
		all, limited := scopes(t, cfg)
		require.Equal(t, []string{"route 53/aws-global"}, all)
		require.Equal(t, all, limited, "the mode of the environment counts")
	})
}

func TestLokiHearsOfEachAttempt(t *testing.T) {
	load := hermetic(t)
	var c LokiS3
	flags := flag.NewFlagSet("loki", flag.ContinueOnError)
	c.AWS.AddFlags(flags, "s3.")
	require.NoError(t, flags.Parse([]string{"-s3.min-delay=100ms", "-s3.max-backoff=3s", "-s3.max-attempts=4"}))
	synctest.Test(t, func(t *testing.T) {
		events := map[retry.EventKind]int{}
		cfg, err := Loki(t.Context(), c, retry.ObserverFunc(func(_ context.Context, e retry.Event) { events[e.Kind]++ }), load...)
		require.NoError(t, err)
		began := time.Now()
		attempts, err := call(t, cfg, "S3", "GetObject", "SlowDown", "SlowDown", "SlowDown", "SlowDown")
		require.Error(t, err)
		require.Equal(t, 4, attempts)
		require.GreaterOrEqual(t, time.Since(began), 300*time.Millisecond)
		require.Equal(t, map[retry.EventKind]int{
			retry.ScopeCreated: 1, retry.AttemptEnded: 4, retry.RetryScheduled: 3, retry.RetryRefused: 1,
			retry.OperationEnded: 1,
		}, events)
	})
}

func TestTerraformGivesUpSoonerWhereNoHostAnswers(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	noName := &net.OpError{Op: "dial", Err: &net.DNSError{IsNotFound: true}}
	unavailable := &smithyhttp.ResponseError{Response: &smithyhttp.Response{Response: &http.Response{StatusCode: http.StatusServiceUnavailable}}, Err: errors.New("busy")}
	for _, c := range []struct {
		name     string
		failure  error
		tokens   int
		attempts int
	}{
		{"refused", refused, 0, 10},
		{"no such host", noName, 0, 10},
		{"unavailable", unavailable, 0, 25},
		{"unavailable, with a quota for two retries", unavailable, 28, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			load := hermetic(t)
			synctest.Test(t, func(t *testing.T) {
				cfg, err := config.LoadDefaultConfig(t.Context(), append(load, config.WithRetryMaxAttempts(25))...)
				require.NoError(t, err)
				require.NoError(t, TerraformBase(&cfg, time.Second, c.tokens))
				attempts, err := callFailing(t, cfg, "IAM", "ListRoles", slices.Repeat([]error{c.failure}, 30)...)
				require.Error(t, err)
				require.Equal(t, c.attempts, attempts)
			})
		})
	}
}

func TestLitestreamOutlastsAStoreThatShedsLoad(t *testing.T) {
	load := hermetic(t)
	synctest.Test(t, func(t *testing.T) {
		cfg, err := Litestream(t.Context(), load...)
		require.NoError(t, err)
		for range 100 { // a quota would be empty after these
			attempts, err := call(t, cfg, "S3", "PutObject", slices.Repeat([]string{"RequestCanceled"}, 9)...)
			require.NoError(t, err)
			require.Equal(t, 10, attempts)
		}
		timeout := &smithyhttp.ResponseError{Response: &smithyhttp.Response{Response: &http.Response{StatusCode: http.StatusRequestTimeout}}, Err: errors.New("late")}
		attempts, err := callFailing(t, cfg, "S3", "PutObject", timeout)
		require.NoError(t, err)
		require.Equal(t, 2, attempts)
	})
}

func TestConsumerAsksForANewIteratorAfterAThrottle(t *testing.T) {
	load := hermetic(t)
	synctest.Test(t, func(t *testing.T) {
		const throttled = `{"__type":"ProvisionedThroughputExceededException"}`
		answers := []string{`{"ShardIterator":"1"}`, throttled, throttled, `{"ShardIterator":"2"}`, `{"Records":[],"NextShardIterator":"3"}`}
		var asked []string
		server := smithyhttp.ClientDoFunc(func(r *http.Request) (*http.Response, error) {
			_, name, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
			body := answers[len(asked)]
			asked = append(asked, name)
			status := http.StatusOK
			if body == throttled {
				status = http.StatusBadRequest
			}
			return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
		})
		cfg, err := awssdk.LoadDefaultConfig(t.Context(), awssdk.WithLoadOptions(append(load, config.WithHTTPClient(server))...))
		require.NoError(t, err)
		strategy, err := ShardReads()
		require.NoError(t, err)
		start := &kinesis.GetShardIteratorInput{StreamName: new("stream"), ShardId: new("0"), ShardIteratorType: "LATEST"}

		page, err := nextPage(t.Context(), strategy, kinesis.NewFromConfig(cfg), start, nil)

		require.NoError(t, err)
		require.Equal(t, "3", *page.NextShardIterator)
		require.Equal(t, []string{"GetShardIterator", "GetRecords", "GetShardIterator", "GetShardIterator", "GetRecords"}, asked)
	})
}
