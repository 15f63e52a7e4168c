package classify

import (
	"strings"

	"github.com/awsretry/awsretry/internal/errtree"
)

// Modeled returns the classifier of errors that the models of AWS services mark as
// retryable and that neither their code nor their status gives away; the clients of
// aws-sdk-go-v2 do not carry the mark. The service is that of the Outcome or, if
// there is none, of an error with a method Service() string, as smithy-go's
// operation errors have. Case, spaces, dashes and underscores in it do not matter.
// Some marks look odd, such as one for an AccessDeniedException; Chain.Without
// removes the classifier by its name, "modeled".
//
// The table comes from the models in botocore, see modeled_table.go.
func Modeled() Classifier { return &modeledClassifier{} }

type modeledClassifier struct{}

func (*modeledClassifier) Name() string       { return "modeled" }
func (*modeledClassifier) Priority() Priority { return ModeledPriority() }

func (c *modeledClassifier) Classify(o Outcome) Verdict {
	var f facts
	f.read(o.Err)
	return c.judge(&o, &f)
}

func (*modeledClassifier) judge(o *Outcome, f *facts) Verdict {
	services := modeledIn(f.code)
	if services == "" {
		return None()
	}
	service := o.Service
	if service == "" {
		service = serviceOf(o.Err)
	}
	if kind := kindIn(services, service); kind != KindNone {
		return o.retryAs(kind)
	}
	return None()
}

// kindIn returns the kind of an error in a service, of which modeledIn returned the
// services.
func kindIn(services, service string) Kind {
	for entry := range strings.SplitSeq(services, "|") {
		name, throttle := strings.CutSuffix(entry, "*")
		switch {
		case !sameService(name, service):
		case throttle:
			return Throttling
		default:
			return Transient
		}
	}
	return KindNone
}

func serviceOf(err error) string {
	for e := range errtree.All(err) {
		if e, ok := e.(interface{ Service() string }); ok && e.Service() != "" {
			return e.Service()
		}
	}
	return ""
}

// sameService compares the ids of two services as endpoints, clients and models
// spell them.
func sameService(a, b string) bool {
	for {
		a, b = strings.TrimLeft(a, " -_"), strings.TrimLeft(b, " -_")
		if a == "" || b == "" {
			return a == b
		}
		if lower(a[0]) != lower(b[0]) {
			return false
		}
		a, b = a[1:], b[1:]
	}
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
