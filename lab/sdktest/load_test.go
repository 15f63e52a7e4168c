package sdktest

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/endpointcreds"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// machine is the environment and the files of a machine of its own.
func machine(t *testing.T, files map[string]string, environment ...string) {
	t.Helper()
	home := t.TempDir()
	writeFiles(t, home, files)
	for _, name := range []string{
		"AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_RETRY_MODE",
		"AWS_MAX_ATTEMPTS", "AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
		"AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_ENDPOINT_URL", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_EC2_METADATA_DISABLED", "AWS_CA_BUNDLE",
	} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", home)
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(home, ".aws", "config"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(home, ".aws", "credentials"))
	for i := 0; i+1 < len(environment); i += 2 {
		t.Setenv(environment[i], environment[i+1])
	}
}

// writeFiles writes files below a directory.
func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for path, text := range files {
		path = filepath.Join(dir, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
}

const keys = "aws_access_key_id = ID\naws_secret_access_key = SECRET\n"

// token is the cached token of an SSO session, which is valid for a long time.
const token = `{"accessToken":"T","expiresAt":"2099-01-01T00:00:00Z","region":"eu-central-1","startUrl":"https://sso.test"}`

func expiry() string { return time.Now().Add(time.Hour).UTC().Format(time.RFC3339) }

// identity answers the calls for credentials of all sources.
func identity(r *http.Request) (*http.Response, error) {
	switch {
	case strings.Contains(r.URL.Path, "/federation/credentials"):
		return response(200, fmt.Sprintf(`{"roleCredentials":{"accessKeyId":"ID","secretAccessKey":"S","sessionToken":"T","expiration":%d}}`,
			time.Now().Add(time.Hour).UnixMilli())), nil
	case r.Method == http.MethodPut: // the token of IMDS
		return response(200, "TOKEN", "X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "21600"), nil
	case strings.HasSuffix(r.URL.Path, "/security-credentials/"):
		return response(200, "role"), nil
	case strings.Contains(r.URL.Path, "/security-credentials/role"), strings.HasSuffix(r.URL.Path, "/container"):
		return response(200, fmt.Sprintf(`{"Code":"Success","AccessKeyId":"ID","SecretAccessKey":"S","Token":"T","Expiration":%q}`, expiry())), nil
	default:
		form, _ := url.ParseQuery(bodyOf(r))
		action := form.Get("Action")
		return response(200, fmt.Sprintf(`<%[1]sResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><%[1]sResult><Credentials>`+
			`<AccessKeyId>ID</AccessKeyId><SecretAccessKey>S</SecretAccessKey><SessionToken>T</SessionToken><Expiration>%[2]s</Expiration>`+
			`</Credentials></%[1]sResult></%[1]sResponse>`, action, expiry())), nil
	}
}

// source is a place that credentials come from.
type source struct {
	name        string
	files       map[string]string
	environment []string
	service     string // whose first answers fail
	profile     string
}

var sources = []source{
	{
		name: "STS, a role", service: "sts", profile: "role",
		files: map[string]string{
			".aws/config":      "[profile role]\nrole_arn = arn:aws:iam::111122223333:role/r\nsource_profile = keys\nregion = eu-central-1\n",
			".aws/credentials": "[keys]\n" + keys,
		},
	},
	{
		name: "STS, a web identity", service: "sts",
		files:       map[string]string{"token": "TOKEN"},
		environment: []string{"AWS_ROLE_ARN", "arn:aws:iam::111122223333:role/r", "AWS_REGION", "eu-central-1"},
	},
	{
		name: "SSO", service: "sso", profile: "sso",
		files: map[string]string{
			".aws/config": "[profile sso]\nsso_start_url = https://sso.test\nsso_region = eu-central-1\nsso_account_id = 111122223333\n" +
				"sso_role_name = r\nregion = eu-central-1\n",
			".aws/sso/cache/" + ssoFile + ".json": token,
		},
	},
	{
		name: "container", service: "endpoint-credentials",
		environment: []string{"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1/container"},
	},
	{name: "IMDS", service: "ec2imds"},
}

// ssoFile is the name of the cached token: the SHA-1 of the start URL in hexadecimal digits.
const ssoFile = "54179582df6ebfb72013ade3fe46f5ebdf9e34b0"

// loading returns the options of config.LoadDefaultConfig for a source.
func (s source) loading(client *script) []func(*config.LoadOptions) error {
	return []func(*config.LoadOptions) error{
		config.WithHTTPClient(client), config.WithSharedConfigProfile(s.profile), config.WithRegion("eu-central-1"),
		config.WithEndpointCredentialOptions(func(o *endpointcreds.Options) { o.HTTPClient = client }),
	}
}

// prepare makes the machine of a source.
func (s source) prepare(t *testing.T) {
	t.Helper()
	machine(t, s.files, s.environment...)
	if _, ok := s.files["token"]; ok {
		t.Setenv("AWS_WEB_IDENTITY_TOKEN_FILE", filepath.Join(os.Getenv("HOME"), "token")) //nolint:forbidigo // what machine has set
	}
}

// TestCredentialsAreFetchedWithTheStrategy: the clients that fetch credentials retry as the settings say, and have scopes of
// their own although the context of the call that they are fetched for names its service.
func TestCredentialsAreFetchedWithTheStrategy(t *testing.T) {
	for _, s := range sources {
		t.Run(s.name, func(t *testing.T) {
			s.prepare(t)
			t.Setenv("AWS_MAX_ATTEMPTS", "2")
			synctest.Test(t, func(t *testing.T) {
				retries := 0
				observer := awsretry.WithObserver(retry.ObserverFunc(func(_ context.Context, e retry.Event) {
					if e.Kind == retry.RetryScheduled {
						retries++
						require.Equal(t, s.service, e.Operation.Service)
						require.NotEmpty(t, e.Operation.Name)
					}
				}))
				load := func(client *script) aws.Config {
					cfg, err := awssdk.LoadDefaultConfig(t.Context(), awssdk.WithLoadOptions(s.loading(client)...), awssdk.WithSettings(observer))
					require.NoError(t, err)
					return cfg
				}
				cfg := load(newScript(fail(503, ""), func(r *http.Request) (*http.Response, error) {
					if strings.Contains(r.Header.Get("X-Amz-Target"), "DescribeTable") {
						return response(200, "{}"), nil
					}
					return identity(r)
				}))
				require.NoError(t, describe(t, cfg))
				require.Equal(t, 1, retries)
				var found []retry.ScopeKey
				for _, scope := range strategyOf(t, cfg).Snapshot().Scopes[1:] {
					if scope.Key.Service != "dynamodb" {
						found = append(found, scope.Key)
					}
				}
				require.Len(t, found, 1)
				require.Equal(t, s.service, found[0].Service)
				require.Equal(t, s.service == "sts" || s.service == "sso", found[0].Region == "eu-central-1")

				client := newScript(fail(503, ""))
				_, err := load(client).Credentials.Retrieve(t.Context())
				require.Error(t, err)
				require.Equal(t, map[bool]int{false: 2, true: 6}[s.service == "ec2imds"], client.requests(), "IMDS asks for a token first")
			})
		})
	}
}

// TestMetadataNeverWaitsLongerThanWithTheSDKAlone fetches the credentials of an instance with many
// attempts and a low send rate in the settings.
func TestMetadataNeverWaitsLongerThanWithTheSDKAlone(t *testing.T) {
	s := sources[len(sources)-1]
	s.prepare(t)
	for name, answers := range map[string][]answerFunc{
		"unreachable": {refuse(&sharedError{http.ErrServerClosed})},
		"fails":       {fail(503, "")},
		"fails once":  {fail(503, ""), identity},
		"fails twice": {fail(503, ""), fail(503, ""), identity},
		"refuses":     {fail(404, "")},
		"silent":      {func(r *http.Request) (*http.Response, error) { <-r.Context().Done(); return nil, r.Context().Err() }},
	} {
		synctest.Test(t, func(t *testing.T) {
			fetch := func(cfg aws.Config) (took time.Duration, err error) {
				began := time.Now()
				_, err = cfg.Credentials.Retrieve(t.Context())
				return time.Since(began), err
			}
			alone := newScript(answers...)
			cfg, err := config.LoadDefaultConfig(t.Context(), s.loading(alone)...)
			require.NoError(t, err)
			longest, theirErr := fetch(cfg)

			ours := newScript(answers...)
			cfg, err = awssdk.LoadDefaultConfig(t.Context(), awssdk.WithLoadOptions(s.loading(ours)...), awssdk.WithSettings(
				awsretry.WithMode(awsretry.ModeAdaptive), awsretry.WithMaxAttempts(50),
				awsretry.WithConfig(adaptive.Config{
					Standard: standard.Config{Base: time.Minute, ThrottlingBase: time.Minute},
					SendLimit: func(retry.ScopeKey) adaptive.SendLimit {
						return adaptive.SendLimit{Starting: 0.5}
					},
				})))
			require.NoError(t, err)
			took, ourErr := fetch(cfg)
			require.Equal(t, theirErr == nil, ourErr == nil, "%s: %v", name, ourErr)
			require.Equal(t, longest, took, "%s: the client has no jitter, because its longest delay is so short", name)
			for _, gap := range ours.gaps() {
				require.True(t, name == "silent" || gap <= time.Second, "%s: %v", name, gap)
			}
		})
	}
}

func TestRetryerBesideLoadDefaultConfigIsAnError(t *testing.T) {
	machine(t, nil)
	_, err := awssdk.LoadDefaultConfig(t.Context(), awssdk.WithLoadOptions(config.WithRetryer(func() aws.Retryer { return aws.NopRetryer{} })))
	require.EqualError(t, err, "awssdk: config.WithRetryer has no effect in LoadDefaultConfig: use config.LoadDefaultConfig")
	cfg := aws.Config{}
	require.EqualError(t, awssdk.Install(&cfg, awssdk.WithLoadOptions(config.WithRegion("x"))),
		"awssdk: WithLoadOptions has an effect only in LoadDefaultConfig")
}
