package otelretry

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/metrics"
	"github.com/awsretry/awsretry/internal/serviceid"
	"github.com/awsretry/awsretry/retry"
)

const (
	// The semantic conventions have merged rpc.service into rpc.method. The AWS SDKs still write it.
	serviceKey = attribute.Key("rpc.service")
	regionKey  = semconv.CloudRegionKey

	attemptKey  = attribute.Key("awsretry.attempt")
	attemptsKey = attribute.Key("awsretry.attempts")
	behaviorKey = attribute.Key("awsretry.behavior")
	modeKey     = attribute.Key("awsretry.mode")
	versionKey  = attribute.Key("awsretry.version")
	delayKey    = attribute.Key("awsretry.delay") // in seconds
	kindKey     = attribute.Key("awsretry.kind")
	outcomeKey  = attribute.Key("awsretry.outcome")
	limitKey    = attribute.Key("awsretry.limit")
	quotaKey    = attribute.Key("awsretry.quota")
	lentKey     = attribute.Key("awsretry.lent")
	reachKey    = attribute.Key("awsretry.reach")
	reasonKey   = attribute.Key("awsretry.reason")
	scopeKey    = attribute.Key("awsretry.scope")
	stateKey    = attribute.Key("awsretry.fleet.state")
)

const (
	maxOperations = 1000 // besides the one of late
	maxCodes      = 200

	// late stands for what came when there was no more place. It is the word of the semantic conventions.
	late = "_OTHER"
)

// operation is what the labels say of a retry.Operation.
type operation struct{ service, name, region string }

// series are the options of a measurement with some attributes. Options that exist already cost a
// measurement no allocation.
type series struct {
	add    []metric.AddOption
	record []metric.RecordOption
}

// labels are the attributes of an operation, and the series that a success needs.
type labels struct {
	attributes        []attribute.KeyValue
	bare, ok, success series
}

// with returns the series with more attributes.
func (l *labels) with(more ...attribute.KeyValue) series {
	option := metric.WithAttributeSet(attribute.NewSet(slices.Concat(l.attributes, more)...))
	return series{[]metric.AddOption{option}, []metric.RecordOption{option}}
}

// operations keeps the labels of operations and the error codes that were seen.
type operations struct {
	merged, sdk bool
	// known is replaced, never changed, so that a look-up needs no lock.
	known atomic.Pointer[map[operation]*labels]

	learning sync.Mutex        // held while known is replaced
	codes    map[string]string // and names of limits; guarded by learning; the value is the key
}

func newOperations(merged, sdk bool) *operations {
	o := &operations{merged: merged, sdk: sdk, codes: map[string]string{}}
	o.known.Store(&map[operation]*labels{})
	return o
}

// labelsOf returns the labels of an operation.
func (o *operations) labelsOf(op *retry.Operation) *labels {
	key := operation{op.Service, op.Name, op.Region}
	if l := (*o.known.Load())[key]; l != nil {
		return l
	}
	return o.learn(operation{metrics.Label(key.service), metrics.Label(key.name), metrics.Label(key.region)})
}

// learn returns the labels of an operation that may be new.
func (o *operations) learn(key operation) *labels {
	o.learning.Lock()
	defer o.learning.Unlock()
	known := *o.known.Load()
	if len(known) >= maxOperations && known[key] == nil {
		key = operation{late, late, late}
	}
	if l := known[key]; l != nil {
		return l
	}
	// A clone, because the name may be a part of a text that is much longer.
	key = operation{strings.Clone(key.service), strings.Clone(key.name), strings.Clone(key.region)}
	l := &labels{attributes: o.attributes(key)}
	l.bare, l.ok, l.success = l.with(), l.with(kindKey.String("ok")), l.with(outcomeKey.String("success"))
	known = maps.Clone(known)
	known[key] = l
	o.known.Store(&known)
	return l
}

func (o *operations) attributes(key operation) []attribute.KeyValue {
	method := key.name
	if o.sdk {
		key.service = serviceid.Spelled(key.service)
	}
	if o.merged && key.service != "" && key != (operation{late, late, late}) {
		method = key.service + "/" + method
	}
	return slices.Concat(o.service(key.service), named(semconv.RPCMethodKey, method), named(regionKey, key.region))
}

// service returns the attribute of a service.
func (o *operations) service(service string) []attribute.KeyValue {
	if o.merged {
		return nil
	}
	if o.sdk {
		service = serviceid.Spelled(service)
	}
	return named(serviceKey, service)
}

// named returns an attribute, and none for an empty value.
func named(key attribute.Key, value string) []attribute.KeyValue {
	if value == "" {
		return nil
	}
	return []attribute.KeyValue{key.String(value)}
}

// reachOf returns how much a throttle is about. A hard quota has a word of its own.
func reachOf(v classify.Verdict) string {
	if v.HardQuota() {
		return "hard_quota"
	}
	return v.Reach().String()
}

// errorType returns the word for a failure, or "_OTHER" for a code that came when there was no more
// place. Kinds need no place, because there are few. It returns no part of a text of the event,
// because the SDK keeps the words and such a text may be long.
func (o *operations) errorType(e *retry.Event, kind string) string {
	if word := e.ErrorType(); word != kind {
		return o.word(word)
	}
	return kind
}

// word returns a copy of a word, which is kept.
func (o *operations) word(word string) string {
	switch word {
	case "":
		return ""
	case late:
		return late
	}
	o.learning.Lock()
	defer o.learning.Unlock()
	if kept, known := o.codes[word]; known {
		return kept
	}
	if len(o.codes) >= maxCodes {
		return late
	}
	word = strings.Clone(word)
	o.codes[word] = word
	return word
}
