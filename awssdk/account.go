package awssdk

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go/middleware"
)

// WithAccount sets the AWS account that all clients of the config call, such as "111122223333". AWS counts by account, so
// the account is part of each scope, except those of S3 buckets, whose names are unique across accounts. It does not apply
// to calls that get the credentials of the config, such as AssumeRole.
//
// Without WithAccount the account of a call is the first of these that is known: the one in the ARN or
// queue URL that names the scope, the one of the credentials that sign the call, none.
//
// An id that does not have twelve digits is an error of [LoadDefaultConfig] and [Install]. An empty id changes nothing.
func WithAccount(id string) Option {
	return func(o *options) { o.account = id }
}

// given returns the account of WithAccount, if the call is one of that account. Clients that config.LoadDefaultConfig has
// made to get the credentials are not named. They call with other credentials, and AWS counts the account of these.
func (r *sdkRetryer) given(service string) string {
	if r.service == "" && givesCredentials(service) {
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

// givesCredentials reports whether the service has calls for credentials, which need none.
func givesCredentials(service string) bool {
	return slices.Contains([]string{"sts", "sso", "sso oidc", "signin", "cognito identity", "cognito identity provider"}, service)
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

// identityID is the name of the SDK's middleware that gets the credentials of an attempt, inside of the loop.
const identityID = "GetIdentity"

// identityMiddleware is in the place of that middleware, and runs it. An attempt is admitted between its credentials and its
// signature: there the account is known, and only the call itself has asked for the credentials.
type identityMiddleware struct{ *calls }

func (identityMiddleware) ID() string { return identityID }

func (m identityMiddleware) HandleFinalize(
	ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler,
) (middleware.FinalizeOutput, middleware.Metadata, error) {
	if c := callFrom(ctx); c != nil && c.calls == m.calls && c.gate.CompareAndSwap(gateClosed, gateAsked) {
		c.signed, next = next, (*identified)(c)
	}
	return m.identity.HandleFinalize(ctx, in, next)
}

// identified is a call whose attempt has its credentials.
type identified call

func (i *identified) HandleFinalize(
	ctx context.Context, in middleware.FinalizeInput,
) (middleware.FinalizeOutput, middleware.Metadata, error) {
	c := (*call)(i)
	c.account = c.accountIn(ctx)
	return c.send(ctx, in, c.signed)
}

// How far an attempt is on its way to be admitted. Middlewares between the loop and the credentials may end it there, or go on
// twice, also at once: then the first one is admitted.
const (
	gateOpen   uint32 = iota // it has been admitted, or there is none
	gateClosed               // it has begun
	gateAsked                // its credentials are asked for
)

// accountIn returns the account of the credentials in the context that GetIdentity passes on, or nothing. Neither their key in
// it nor the types on the way to them are exported, so fields are read by their number, without using their values: that of a
// context with a value, that of the value which a middleware has added last, and that of an identity.
func (s *shared) accountIn(ctx context.Context) string {
	v := reflect.ValueOf(ctx)
	for _, field := range [...]int{2, 1, 0} {
		for v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer {
			v = v.Elem()
		}
		if v.Kind() != reflect.Struct || v.NumField() <= field {
			return ""
		}
		v = v.Field(field)
	}
	if v.Type() != reflect.TypeFor[aws.Credentials]() {
		return ""
	}
	return v.FieldByIndex(s.accountField).String()
}
