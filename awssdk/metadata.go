package awssdk

import (
	"reflect"
	"strings"

	"github.com/awsretry/awsretry/retry"
)

// Services of clients that name none in the context. The names are the constants ServiceID of
// their packages.
const (
	instanceMetadata     = "ec2imds"
	containerCredentials = "endpoint-credentials"
)

// metadataAttempts is how often the client of instance metadata makes a call without a retryer of
// the config: DefaultMaxAttempts of the SDK's package aws/retry, whatever the settings say.
const metadataAttempts = 3

// nameUnnamed names the service and the operation of a call whose client does not name them,
// by the type of the input. What the context names is the call that the credentials are for.
//
// A call for instance metadata takes no longer than with the SDK alone: it is made as often at
// most, and no send rate holds it back. The client chooses the delays itself.
func nameUnnamed(op *retry.Operation, input any) {
	t := reflect.TypeOf(input)
	if t == nil || t.Kind() != reflect.Pointer {
		return
	}
	switch t = t.Elem(); {
	case strings.HasSuffix(t.PkgPath(), "aws-sdk-go-v2/feature/ec2/imds"):
		op.Service, op.Unpaced = instanceMetadata, true
		if op.MaxAttempts == 0 || op.MaxAttempts > metadataAttempts {
			op.MaxAttempts = metadataAttempts
		}
	case strings.HasSuffix(t.PkgPath(), "aws-sdk-go-v2/credentials/endpointcreds/internal/client"):
		op.Service = containerCredentials
	default:
		return
	}
	op.Region, op.Name = "", strings.TrimSuffix(t.Name(), "Input")
	if op.Name != "" {
		op.Name = strings.ToUpper(op.Name[:1]) + op.Name[1:]
	}
}
