package classify

import (
	"strings"

	"github.com/awsretry/awsretry/internal/wire"
)

// modeledClassifier retries the errors in modeled_table.go: the models of AWS services mark
// them as retryable, but neither their code nor their status gives that away. The clients
// of aws-sdk-go-v2 do not carry the mark. Some marks look odd, such as one for an
// AccessDeniedException.
type modeledClassifier struct{}

func (*modeledClassifier) Name() string { return "modeled" }

func (c *modeledClassifier) Classify(o Outcome) Verdict { return alone(c, &o) }

func (*modeledClassifier) opinion(o *Outcome, f *facts) Verdict {
	services := modeledIn(f.code)
	if services == "" {
		return Verdict{}
	}
	if kind := kindIn(services, o.service()); kind != KindNone {
		return o.retryAs(kind)
	}
	return Verdict{}
}

// kindIn returns the kind of an error in a service. services is what modeledIn
// returned for its code.
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

// serviceOf returns the id of the service that smithy-go's operation errors name.
func serviceOf(err error) (service string) {
	wire.Find(err, func(e error) bool {
		if e, ok := e.(interface{ Service() string }); ok {
			service = e.Service()
		}
		return service != ""
	})
	return service
}

// sameService compares two spellings of a service id: case, spaces, dashes and underscores
// do not matter.
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
