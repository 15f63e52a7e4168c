package awssdk

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/awsretry/awsretry/clock"
)

// WithAccount sets the AWS account that all clients of the config call, such as "111122223333". AWS counts by account, so
// the account is part of each scope, except those of S3 buckets, whose names are unique across accounts. It does not apply
// to calls that get the credentials of the config, such as AssumeRole.
//
// Without WithAccount the account of a call is the first of these that is known: the one in the ARN or
// queue URL that names the scope, the one of the client's credentials, none.
//
// An id that does not have twelve digits is an error of [LoadDefaultConfig] and [Install]. An empty id changes nothing.
func WithAccount(id string) Option {
	return func(o *options) { o.account = id }
}

// given returns the account of WithAccount, if the call is one of that account. Clients that config.LoadDefaultConfig has
// made to get the credentials have no owner. They call with other credentials, and AWS counts the account of these.
func (r *sdkRetryer) given(service string) string {
	if r.owner == nil && givesCredentials(service) {
		return ""
	}
	return r.accounts.given
}

func checkAccount(id string) error {
	if id != "" && !isAccount(id) {
		return fmt.Errorf("awssdk: an account of WithAccount must have twelve digits: %q", id)
	}
	return nil
}

// accounts is what the clients of a strategy know of accounts. It is safe for concurrent use.
type accounts struct {
	given string // by WithAccount; empty if absent
	home  atomic.Pointer[string]
}

// isHome reports whether the account is the first that an ARN has named to a client that does not
// know its own account. That account counts as the client's own, so that a table has one scope by
// name and by ARN, and tables of other accounts have others. It does not change any more.
func (a *accounts) isHome(account string) bool {
	home := a.home.Load()
	if home == nil {
		first := strings.Clone(account)
		a.home.CompareAndSwap(nil, &first)
		home = a.home.Load()
	}
	return *home == account
}

// owner finds the account that the credentials of one client belong to. It is safe for concurrent
// use. A nil owner knows nothing.
//
// We ask the provider before the first call, so that all calls of a client have one scope. The client would get its
// credentials from the same provider with the same context a moment later, so asking a cache or a static provider costs
// nothing. Any other provider may make a request for each answer, so it is not asked. Caches are asked, except for:
//
//   - Those of clients whose service gives credentials, such as STS: the call itself may be filling
//     them.
//   - Those with credentials of the EC2 instance: they do not know the account, and without the
//     instance metadata service each answer takes seconds.
//
// A provider that fails is asked again after askAgain, so that few calls of a client without credentials ask twice.
type owner struct {
	// credentials is the field of the options of the client. It is read at the first call, when
	// all options have been applied. Options of a single call do not change it.
	credentials reflect.Value
	known       atomic.Pointer[string]
	failed      atomic.Pointer[time.Time] // when it was asked in vain
}

const askAgain = time.Minute

// ownerOf returns the owner of the client with the options that clientOptions points to.
func ownerOf(clientOptions any) *owner {
	field, ok := fieldOf[aws.CredentialsProvider](clientOptions, "Credentials")
	if !ok {
		return nil
	}
	return &owner{credentials: field}
}

// account returns the account, or nothing if it is not known.
func (o *owner) account(ctx context.Context, clk clock.Clock, service string) string {
	if o == nil {
		return ""
	}
	known := o.known.Load()
	if known == nil {
		known = o.ask(ctx, clk, service)
	}
	return *known
}

func (o *owner) ask(ctx context.Context, clk clock.Clock, service string) *string {
	nothing := new(string)
	provider, ok := reflect.TypeAssert[aws.CredentialsProvider](o.credentials)
	if !ok || !mayAsk(provider, service) {
		o.known.Store(nothing)
		return nothing
	}
	if failed := o.failed.Load(); failed != nil && clk.Now().Sub(*failed).Abs() < askAgain { // the clock may go back
		return nothing
	}
	found, err := provider.Retrieve(ctx)
	if err != nil {
		if ctx.Err() == nil {
			o.failed.Store(new(clk.Now()))
		}
		return nothing // The call asks again, and reports the error.
	}
	account := strings.Clone(found.AccountID) // not a part of the secrets
	o.known.Store(&account)
	return &account
}

// mayAsk reports whether a provider may be asked before the call asks.
func mayAsk(provider aws.CredentialsProvider, service string) bool {
	if aws.IsCredentialsProvider(provider, credentials.StaticCredentialsProvider{}) {
		return true
	}
	cache, ok := provider.(*aws.CredentialsCache)
	if !ok {
		return false
	}
	sources := cache.ProviderSources()
	return !givesCredentials(service) && (len(sources) == 0 || sources[len(sources)-1] != aws.CredentialSourceIMDS)
}

// givesCredentials reports whether the service has calls for credentials, which need none.
func givesCredentials(service string) bool {
	return slices.Contains([]string{"sts", "sso", "sso oidc", "signin", "cognito identity", "cognito identity provider"}, service)
}
