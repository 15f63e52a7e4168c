package awsretry

import (
	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/retry"
)

// buildOptions is what options say about the strategy that is built.
type buildOptions struct {
	config      adaptive.Config
	clock       clock.Clock
	observer    retry.Observer
	classifiers []classify.Classifier // one of each option
	random      func() float64
}

// building makes an option that changes what is built, not what is resolved.
func building(change func(b *buildOptions)) Option {
	return optionFunc(func(o *options) { change(&o.build) })
}

// WithConfig begins with the numbers of config instead of the defaults: costs,
// delays, the size of the quota, the limits of adaptive mode. Retry mode,
// behavior and service come from the settings all the same, and so does the
// number of attempts unless it was not set. In standard mode only
// config.Standard matters.
func WithConfig(config adaptive.Config) Option {
	return building(func(b *buildOptions) { b.config = config })
}

// WithClock runs the strategy on a clock other than the system's, such as a
// clock.Fake. Nil is as if the option were absent.
func WithClock(clk clock.Clock) Option {
	return building(func(b *buildOptions) { b.clock = clk })
}

// WithObserver tells the observer what the strategy does. Nil is as if the option
// were absent.
func WithObserver(observer retry.Observer) Option {
	return building(func(b *buildOptions) { b.observer = observer })
}

// WithClassifier decides with classifier what may be retried. It replaces the
// classifier of the config, which is [classify.Default] unless WithConfig has another
// one, and those of options before this one. One from [classify.Also] adds to them
// instead. [classify.Chain] says how to change the default classifiers, and
// [classify.AWSCompatible] is for services that only resemble those of AWS. With
// classify.NewChain() nothing is retried. Nil is as if the option were absent.
func WithClassifier(classifier classify.Classifier) Option {
	return building(func(b *buildOptions) {
		if classifier != nil {
			b.classifiers = append(b.classifiers, classifier)
		}
	})
}

// WithRandom takes the random numbers for the jitter, from 0 to 1, from random,
// which must be safe for concurrent use. Nil is as if the option were absent.
func WithRandom(random func() float64) Option {
	return building(func(b *buildOptions) { b.random = random })
}

// apply puts the single options on top of the config.
func (b buildOptions) apply() adaptive.Config {
	config := b.config
	if b.clock != nil {
		config.Standard.Clock = b.clock
	}
	if b.observer != nil {
		config.Standard.Observer = b.observer
	}
	for _, classifier := range b.classifiers {
		if config.Standard.Classifier != nil {
			classifier = layers{config.Standard.Classifier, classifier}
		}
		config.Standard.Classifier = classifier
	}
	if b.random != nil {
		config.Standard.Random = b.random
	}
	return config
}

// layers are two classifiers of which the upper one replaces the lower one, or adds to
// it if it comes from classify.Also.
type layers struct{ lower, upper classify.Classifier }

func (l layers) Name() string { return l.upper.Name() }

func (l layers) Classify(o classify.Outcome) classify.Verdict { return o.Judge(l.lower, l.upper) }
