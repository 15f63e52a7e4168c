package classify

import (
	"strings"

	"github.com/awsretry/awsretry/internal/wire"
)

// modeledClassifier knows the errors in modeled_table.go, which is made from the models of AWS services: errors that they mark as
// retryable, and throttles that only some services have, such as those of KMS that others relay. An answer and an entry of a batch
// with such a code are judged alike, but the faults of a service have a status in answers. The clients of aws-sdk-go-v2 know
// nothing of this. Some marks look odd, such as one for an AccessDeniedException.
type modeledClassifier struct{}

func (*modeledClassifier) Name() string { return "modeled" }

func (c *modeledClassifier) Classify(o Outcome) Verdict { return alone(c, &o) }

func (*modeledClassifier) opinion(o *Outcome, f *facts) Verdict {
	switch f.meaning(o) {
	case isRetryable:
		return o.retryAs(Transient)
	case isThrottle:
		return RetryAs(Throttling)
	case isRelay:
		v := RetryAs(Throttling)
		v.reach = ReachOther
		return v
	case isFault:
		if f.has(ofEntry) {
			return o.retryAs(Transient)
		}
	}
	return Verdict{}
}

// What an error means in a service.
const (
	isUnknown   = 0
	isRetryable = ' ' // it may be sent again; this one is not written
	isThrottle  = '*'
	isRelay     = '~' // a throttle by another service, which the service calls
	isFault     = ':' // the service's fault, if it is the code of an entry
	isHard      = '#' // a quota of the account and no rate
)

// meaning returns what the code means in the service.
func (f *facts) meaning(o *Outcome) byte {
	services := modeledIn(f.code)
	if services == "" {
		return isUnknown
	}
	return markIn(services, o.service())
}

// throttles reports whether the code is that of a throttle in the service.
func (f *facts) throttles(o *Outcome) bool {
	mark := f.meaning(o)
	return mark == isThrottle || mark == isRelay
}

// markIn returns the mark of a service. services is what modeledIn returned.
func markIn(services, service string) byte {
	for entry := range strings.SplitSeq(services, "|") {
		name, mark := entry, byte(isRetryable)
		if last := len(entry) - 1; strings.IndexByte("*~:#", entry[last]) >= 0 {
			name, mark = entry[:last], entry[last]
		}
		if name == "" || sameService(name, service) {
			return mark
		}
	}
	return isUnknown
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
