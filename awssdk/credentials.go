package awssdk

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/ssocreds"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/sso"
	"github.com/aws/aws-sdk-go-v2/service/ssooidc"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

// load is an option of config.LoadDefaultConfig. All clients of the config get the providers.
//
// The SDK makes the clients that fetch credentials before it sets the ServiceOptions of the config, so
// these clients are given the providers in the options of each call. There is no such way to the
// client of the credentials of aws login.
func (p providers) load(o *config.LoadOptions) error {
	if !p.given() {
		return nil
	}
	o.ServiceOptions = p.before(o.ServiceOptions)
	o.AssumeRoleCredentialOptions = andThen(o.AssumeRoleCredentialOptions, func(o *stscreds.AssumeRoleOptions) {
		if o.Client != nil {
			o.Client = roleClient{o.Client, p}
		}
	})
	o.WebIdentityRoleCredentialOptions = andThen(o.WebIdentityRoleCredentialOptions, func(o *stscreds.WebIdentityRoleOptions) {
		if o.Client != nil { // config.LoadDefaultConfig makes a client where the options have none
			o.Client = webIdentityClient{o.Client, p}
		}
	})
	o.SSOProviderOptions = andThen(o.SSOProviderOptions, func(o *ssocreds.Options) {
		if o.Client != nil {
			o.Client = ssoClient{o.Client, p}
		}
	})
	o.SSOTokenProviderOptions = andThen(o.SSOTokenProviderOptions, func(o *ssocreds.SSOTokenProviderOptions) {
		if o.Client != nil {
			o.Client = tokenClient{o.Client, p}
		}
	})
	return nil
}

// andThen returns a function that calls both. The first one may be nil.
func andThen[T any](first, second func(T)) func(T) {
	return func(o T) {
		if first != nil {
			first(o)
		}
		second(o)
	}
}

// forCall returns the options of a call with the providers. The others override them.
func forCall[T any](p providers, others []func(*T)) []func(*T) {
	return slices.Concat([]func(*T){func(o *T) { p.give("", o) }}, others)
}

type roleClient struct {
	stscreds.AssumeRoleAPIClient
	providers providers
}

func (c roleClient) AssumeRole(
	ctx context.Context, in *sts.AssumeRoleInput, opts ...func(*sts.Options),
) (*sts.AssumeRoleOutput, error) {
	return c.AssumeRoleAPIClient.AssumeRole(ctx, in, forCall(c.providers, opts)...)
}

type webIdentityClient struct {
	stscreds.AssumeRoleWithWebIdentityAPIClient
	providers providers
}

func (c webIdentityClient) AssumeRoleWithWebIdentity(
	ctx context.Context, in *sts.AssumeRoleWithWebIdentityInput, opts ...func(*sts.Options),
) (*sts.AssumeRoleWithWebIdentityOutput, error) {
	return c.AssumeRoleWithWebIdentityAPIClient.AssumeRoleWithWebIdentity(ctx, in, forCall(c.providers, opts)...)
}

type ssoClient struct {
	ssocreds.GetRoleCredentialsAPIClient
	providers providers
}

func (c ssoClient) GetRoleCredentials(
	ctx context.Context, in *sso.GetRoleCredentialsInput, opts ...func(*sso.Options),
) (*sso.GetRoleCredentialsOutput, error) {
	return c.GetRoleCredentialsAPIClient.GetRoleCredentials(ctx, in, forCall(c.providers, opts)...)
}

type tokenClient struct {
	ssocreds.CreateTokenAPIClient
	providers providers
}

func (c tokenClient) CreateToken(
	ctx context.Context, in *ssooidc.CreateTokenInput, opts ...func(*ssooidc.Options),
) (*ssooidc.CreateTokenOutput, error) {
	return c.CreateTokenAPIClient.CreateToken(ctx, in, forCall(c.providers, opts)...)
}
