package config

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/awsretry/awsretry/internal/sharedfile"
	"github.com/awsretry/awsretry/retry"
)

// rule says which values a setting has. A value from code is checked as it is, and a text is parsed first.
type rule[T any] struct {
	key   string // In errors, and as the key in the shared files and in Query.Given.
	want  error  // What is accepted: the Err of a ValueError.
	parse func(text string) (T, error)
	check func(value T) (accepted T, ok bool)
	text  func(value T) string // For people.
}

// The rules of all settings. The name of a profile is used as it is (R21).
func profileRule() rule[string] {
	return rule[string]{key: keyProfile, parse: as[string], check: anyName, text: textOf[string]}
}

func behaviorRule() rule[retry.Behavior] {
	return rule[retry.Behavior]{keyBehavior, errBehavior, as[retry.Behavior], isBehavior, textOf[retry.Behavior]}
}

func modeRule() rule[Mode] {
	return rule[Mode]{keyRetryMode, errMode, as[Mode], toMode, textOf[Mode]}
}

func attemptsRule() rule[int] {
	return rule[int]{keyMaxAttempts, errMaxAttempts, toInt, isAttempts, strconv.Itoa}
}

func longestRule() rule[time.Duration] {
	return rule[time.Duration]{keyMaxBackoff, errMaxBackoff, toDuration, isPositive, time.Duration.String}
}

// durationRule is the rule of min_delay and max_elapsed.
func durationRule(key string) rule[time.Duration] {
	return rule[time.Duration]{key, errDuration, toDuration, isDuration, time.Duration.String}
}

var (
	errMode        = errors.New("must be standard or adaptive")
	errBehavior    = errors.New("must be v2.0 or v2.1")
	errMaxAttempts = errors.New("must be a decimal integer from 1 to 2147483647")
	errMaxBackoff  = errors.New("must be a duration above zero, such as 20s")
	errDuration    = errors.New("must be a duration of zero or more, such as 300ms or 1m30s")
	errNoSetting   = errors.New("must be for retry_mode, max_attempts, max_backoff, min_delay or max_elapsed")
	// errMultiLine is for a value that spans several lines of a file, most often because the line below it is indented.
	errMultiLine = errors.New("must be a single line (in a file, a line that is indented deeper continues the one above)")
)

// Typed returns a value that an option has set: of behavior, retry_mode, max_attempts, max_backoff, min_delay or
// max_elapsed. It is never read as a text.
func Typed[T Mode | int | time.Duration | retry.Behavior](origin Origin, setting string, value T) Candidate {
	return Candidate{Raw: fmt.Sprint(value), Origin: origin, setting: setting, typed: value}
}

// of returns the value of a candidate.
func (r rule[T]) of(c Candidate) (T, error) {
	if value, ok := c.typed.(T); ok {
		return r.accept(value)
	}
	return r.read(c.Raw)
}

// read returns the value that a text is for.
func (r rule[T]) read(text string) (T, error) {
	value, err := r.parse(text)
	if err == nil {
		value, err = r.accept(value)
	}
	switch {
	case err == nil:
		return value, nil
	case strings.ContainsRune(text, '\n'):
		return value, errMultiLine
	}
	return value, r.want
}

// accept returns a value as it counts.
func (r rule[T]) accept(value T) (T, error) {
	if accepted, ok := r.check(value); ok {
		return accepted, nil
	}
	return value, r.want
}

// Check returns a [*ValueError] if the setting does not accept the value, or if there is no such setting. The setting
// of a text is Origin.Key.
func (c Candidate) Check() error {
	key, err := cmp.Or(c.setting, c.Origin.Key), errNoSetting
	switch key {
	case keyRetryMode:
		_, err = modeRule().of(c)
	case keyMaxAttempts:
		_, err = attemptsRule().of(c)
	case keyMaxBackoff:
		_, err = longestRule().of(c)
	case keyMinDelay, keyMaxElapsed:
		_, err = durationRule(key).of(c)
	case keyBehavior:
		if c.typed != nil {
			_, err = behaviorRule().of(c)
		}
	}
	if err == nil {
		return nil
	}
	return &ValueError{Origin: c.Origin, Key: key, Raw: c.Raw, Err: err}
}

func as[S ~string](text string) (S, error)          { return S(text), nil }
func toInt(text string) (int, error)                { return strconv.Atoi(sharedfile.Trim(text)) }
func toDuration(text string) (time.Duration, error) { return time.ParseDuration(sharedfile.Trim(text)) }
func textOf[S ~string](value S) string              { return string(value) }

func anyName(name string) (string, bool)                 { return name, true }
func isBehavior(b retry.Behavior) (retry.Behavior, bool) { return b, b == retry.V20 || b == retry.V21 }
func isAttempts(n int) (int, bool)                       { return n, n >= 1 && n <= math.MaxInt32 }
func isPositive(d time.Duration) (time.Duration, bool)   { return d, d > 0 }
func isDuration(d time.Duration) (time.Duration, bool)   { return d, d >= 0 }

// toMode drops whitespace at both ends and ignores ASCII case. It reads legacy and adaptive_v2, which other AWS tools
// accept, as standard and adaptive.
func toMode(m Mode) (Mode, bool) {
	switch sharedfile.ASCIILower(sharedfile.Trim(string(m))) {
	case "standard", "legacy":
		return modeStandard, true
	case "adaptive", "adaptive_v2":
		return modeAdaptive, true
	}
	return m, false
}
