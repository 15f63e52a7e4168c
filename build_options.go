package awsretry

import (
	"slices"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/retry"
)

// buildOptions is what options say about the strategy that is built.
type buildOptions struct {
	config     adaptive.Config
	clock      clock.Clock
	observer   retry.Observer
	classifier classify.Classifier
	added      []classify.Classifier
	random     func() float64
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

// WithClassifier decides with classifier what may be retried, instead of
// classify.Default: it replaces all classifiers, also those of the config and those
// that options before this one added. Several become one with classify.NewChain,
// which without arguments means that nothing is retried. For services that only
// resemble those of AWS there is classify.AWSCompatible. Nil is as if the option
// were absent.
func WithClassifier(classifier classify.Classifier) Option {
	return building(func(b *buildOptions) {
		if classifier != nil {
			b.classifier, b.added = classifier, nil
		}
	})
}

// WithAddedClassifiers runs the classifiers besides those that the strategy has
// otherwise, the default ones mostly, all of them in the order of their priorities.
// The option may be used several times; of equal priorities the earlier one is asked
// first and the later one overrides. Nil classifiers are left out.
func WithAddedClassifiers(classifiers ...classify.Classifier) Option {
	classifiers = slices.Clone(classifiers)
	return building(func(b *buildOptions) { b.added = append(b.added, classifiers...) })
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
	if b.classifier != nil {
		config.Standard.Classifier = b.classifier
	}
	if len(b.added) > 0 {
		config.Standard.Classifier = classify.NewChain(append([]classify.Classifier{orDefault(config.Standard.Classifier)}, b.added...)...)
	}
	if b.random != nil {
		config.Standard.Random = b.random
	}
	return config
}

func orDefault(c classify.Classifier) classify.Classifier {
	if c == nil {
		return classify.Default()
	}
	return c
}
