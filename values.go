package awsretry

import (
	"encoding/json"
	"errors"
	"flag"
	"slices"
	"strings"

	"github.com/awsretry/awsretry/config"
)

// Values are retry settings in the words of a program's own configuration file and flags. A
// program embeds them in its configuration and gives them to [WithValues]:
//
//	type Config struct {
//		Listen string          `json:"listen"`
//		AWS    awsretry.Values `json:"aws"`
//	}
//
// The fields are texts, as they were written. An empty one is unset. [Resolve] reads them, so
// that the error for a bad value can name its place, the setting and the value, and so that a
// 0 that was written differs from no value. JSON and YAML have the number of attempts as a
// number and durations as texts such as "1m30s". Values has no methods for encoding and
// decoding, so a program may embed it without a name.
//
// A copy of Values is independent of the original. Values are comparable. Reading them is safe
// for concurrent use.
type Values struct {
	// Mode is the retry mode, as AWS_RETRY_MODE has it.
	Mode config.Mode `json:"retry_mode,omitempty" yaml:"retry_mode,omitempty"`
	// MaxAttempts is the number of attempts of an operation, the first one included, such as
	// "5". YAML libraries write it in quotes, and read it with and without.
	MaxAttempts json.Number `json:"max_attempts,omitempty" yaml:"max_attempts,omitempty"`
	// MaxBackoff is the longest backoff, as standard.Config.MaxBackoff: a duration above zero
	// as [time.ParseDuration] reads it.
	MaxBackoff string `json:"max_backoff,omitempty" yaml:"max_backoff,omitempty"`
	// MinDelay is the shortest backoff, as standard.Config.MinDelay: a duration, or "0" for
	// none.
	MinDelay string `json:"min_delay,omitempty" yaml:"min_delay,omitempty"`
	// MaxElapsed limits the time of each operation, as standard.Config.MaxElapsed: a duration,
	// or "0" for no limit.
	MaxElapsed string `json:"max_elapsed,omitempty" yaml:"max_elapsed,omitempty"`

	places, flags [valueSettings]valueAt // By the numbers of valueKey.
}

// valueAt is a value and the place that it came from. Without a place it is no value.
type valueAt struct{ text, place string }

// valueSettings is how many settings Values has.
const valueSettings = 5

// valueKey returns the name of a setting and the help for its flag.
func valueKey(i int) (key, usage string) {
	switch i {
	case 0:
		return "retry_mode", "retry `mode`: standard or adaptive"
	case 1:
		return "max_attempts", "`number` of attempts of an operation, the first included"
	case 2:
		return "max_backoff", "longest `duration` of the backoff before a retry, such as 20s"
	case 3:
		return "min_delay", "shortest `duration` of the backoff before a retry, such as 300ms"
	default:
		return "max_elapsed", "`duration` after which an operation begins no further attempt, such as 1m30s"
	}
}

// texts returns the fields by their numbers.
func (v *Values) texts() [valueSettings]string {
	return [...]string{string(v.Mode), string(v.MaxAttempts), v.MaxBackoff, v.MinDelay, v.MaxElapsed}
}

// AddFlags defines the flags PREFIXretry-mode, PREFIXmax-attempts, PREFIXmax-backoff,
// PREFIXmin-delay and PREFIXmax-elapsed. A flag that is set is stronger than the field,
// whichever comes first, and leaves the field as it is. Its place is "flag --" and its name.
// A value that is not accepted is an error when the flags are parsed.
//
// The flags set v, and no copy of it. Parse them before a call of [WithValues]. AddGoFlagSet
// of github.com/spf13/pflag takes the flags over.
func (v *Values) AddFlags(fs *flag.FlagSet, prefix string) {
	for i := range valueSettings {
		key, usage := valueKey(i)
		name := prefix + strings.ReplaceAll(key, "_", "-")
		fs.Var(&valueFlag{values: v, number: i, name: name}, name, usage)
	}
}

// valueFlag is a flag.Value. The package flag also makes zero ones.
type valueFlag struct {
	values *Values
	number int
	name   string
}

func (f *valueFlag) String() string {
	if f.values == nil {
		return ""
	}
	return f.values.flags[f.number].text
}

func (f *valueFlag) Set(text string) error {
	at := valueAt{text, "flag --" + f.name}
	if invalid, ok := errors.AsType[*config.ValueError](at.candidate(f.number).Check()); ok {
		return invalid.Err // The package flag adds the flag and the value.
	}
	f.values.flags[f.number] = at
	return nil
}

// From says where the fields come from, such as "file app.yaml". A program calls it when it
// has decoded a file. If it decodes several files into the same Values, it calls From after
// each of them: the place is that of the fields that have changed since the last call. A field
// that no From was called for has the place "option WithValues".
func (v *Values) From(place string) {
	for i, text := range v.texts() {
		if text != v.places[i].text {
			v.places[i] = valueAt{text, place}
		}
	}
}

// given returns the values with their places, flags first.
func (v *Values) given() []config.Candidate {
	var given []config.Candidate
	for i, at := range v.flags {
		if at.place != "" {
			given = append(given, at.candidate(i))
		}
	}
	for i, text := range v.texts() {
		at := v.places[i]
		if at.text != text || at.place == "" {
			at = valueAt{text, "option WithValues"}
		}
		if text != "" {
			given = append(given, at.candidate(i))
		}
	}
	return given
}

func (a valueAt) candidate(number int) config.Candidate {
	key, _ := valueKey(number)
	return config.Candidate{Raw: a.text, Origin: config.Origin{Kind: config.OriginOption, Name: a.place, Key: key}}
}

// WithValues uses the values of a program's own file and flags. They are stronger than the
// environment and the shared files. The mode counts like that of [WithMode] and the attempts
// like those of [WithMaxAttempts], of which the later option counts. The other values count
// before the fields of [WithConfig]. Of several WithValues the later one is stronger, setting
// by setting.
//
// The origin of such a value has as its name the flag or the place of [Values.From], and so
// has the error for a value that is not accepted. [Settings] hold all values, so [New] needs
// no such option.
func WithValues(v Values) ResolveOption {
	given := slices.Clip(v.given())
	return resolveOption(func(q *config.Query) {
		for _, c := range given {
			switch c.Origin.Key {
			case "retry_mode":
				q.Override.Mode = nil
			case "max_attempts":
				q.Override.MaxAttempts = nil
			}
		}
		q.Given = append(given, q.Given...)
	})
}
