package adopters

import (
	"errors"
	"net"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/modes/standard"
)

// TerraformBase is for hashicorp/aws-sdk-go-base, on which the Terraform provider for AWS stands.
//
// It replaces, in aws_config.go, resolveRetryer with resolveDefaultsMode, which find again the mode and the attempts that
// the SDK has found, and networkErrorShortcutter, which ends a call after ten attempts in RetryDelay if the text of the
// error says that there is no such host or that it refuses connections. Here Install takes what the SDK has found, and a
// classifier has the number.
func TerraformBase(cfg *aws.Config, maxBackoff time.Duration, tokens int) error {
	settings := []awsretry.Option{awsretry.WithClassifier(classify.Also(unreachable{}))}
	numbers := standard.Config{MaxBackoff: maxBackoff} // zero means 20 s
	if tokens > 0 {
		numbers.QuotaCapacity = &tokens
	} else {
		settings = append(settings, awsretry.WithoutQuota())
	}
	return awssdk.Install(cfg, awssdk.WithSettings(append(settings, awsretry.WithStandard(numbers))...))
}

// unreachable allows ten attempts where no host answers.
type unreachable struct{}

func (unreachable) Name() string { return "unreachable" }

func (unreachable) Classify(o classify.Outcome) classify.Verdict {
	dns, noName := errors.AsType[*net.DNSError](o.Err)
	if noName && dns.IsNotFound || errors.Is(o.Err, syscall.ECONNREFUSED) {
		return classify.RetryAs(classify.Transient).AtMost(10)
	}
	return classify.Verdict{}
}
