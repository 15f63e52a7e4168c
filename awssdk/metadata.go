package awssdk

import (
	"cmp"
	"reflect"
	"strings"

	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"

	"github.com/awsretry/awsretry/retry"
)

// nameUnnamed names the service and the operation of a call whose client does not name them, by the type of the input. The
// services are the constants ServiceID of the clients. What the context names is the call that the credentials are for.
//
// A call for instance metadata takes no longer than with the SDK alone: it is made as often at most, whatever the settings
// say, and no send rate holds it back. The client chooses the delays itself.
func nameUnnamed(op *retry.Operation, input any) {
	t := reflect.TypeOf(input)
	if t == nil || t.Kind() != reflect.Pointer {
		return
	}
	switch t = t.Elem(); {
	case strings.HasSuffix(t.PkgPath(), "aws-sdk-go-v2/feature/ec2/imds"):
		op.Service, op.Unpaced = "ec2imds", true
		op.MaxAttempts = min(cmp.Or(op.MaxAttempts, sdkretry.DefaultMaxAttempts), sdkretry.DefaultMaxAttempts)
	case strings.HasSuffix(t.PkgPath(), "aws-sdk-go-v2/credentials/endpointcreds/internal/client"):
		op.Service = "endpoint-credentials"
	default:
		return
	}
	op.Region, op.Name = "", strings.TrimSuffix(t.Name(), "Input")
	if op.Name != "" {
		op.Name = strings.ToUpper(op.Name[:1]) + op.Name[1:]
	}
}
