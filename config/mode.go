package config

import (
	"errors"
	"strings"
)

// Mode is the retry mode: which strategy is built. The zero value is not a mode.
type Mode string

// The two modes of AWS tools.
const (
	// ModeStandard retries with backoff and a retry quota.
	ModeStandard Mode = "standard"
	// ModeAdaptive is standard with a send rate that adapts to throttling.
	ModeAdaptive Mode = "adaptive"
)

// Behavior is the generation of retry behavior, which decides costs, base
// delays and defaults. The zero value stands for "unset".
type Behavior string

// The generations in the field.
const (
	// BehaviorV20 is what AWS tools have done since 2020.
	BehaviorV20 Behavior = "v2.0"
	// BehaviorV21 is the behavior that AWS_NEW_RETRIES_2026 switches on.
	BehaviorV21 Behavior = "v2.1"
)

// What is accepted, for errors.Is; each is the Err of a [ValueError].
var (
	// ErrMode says which modes there are.
	ErrMode = errors.New("must be standard or adaptive")
	// ErrBehavior says which generations there are.
	ErrBehavior = errors.New("must be v2.0 or v2.1")
	// ErrMaxAttempts says which numbers of attempts there are.
	ErrMaxAttempts = errors.New("must be a decimal integer from 1 to 2147483647")
	// ErrMultiLine says that the value of a setting goes over several lines,
	// most often because the line below it is indented.
	ErrMultiLine = errors.New("must be a single line (in a file, an indented line continues the one above)")
)

// ParseMode reads a retry mode. Surrounding spaces and tabs are dropped and
// ASCII case is ignored. The names legacy and adaptive_v2, which other AWS tools
// accept, are read as standard and adaptive and reported as mapped. Anything
// else, the empty text included, is a *[ValueError] without an origin.
func ParseMode(raw string) (mode Mode, mapped bool, err error) {
	switch asciiLower(strings.Trim(raw, blanks)) {
	case "standard":
		return ModeStandard, false, nil
	case "adaptive":
		return ModeAdaptive, false, nil
	case "legacy":
		return ModeStandard, true, nil
	case "adaptive_v2":
		return ModeAdaptive, true, nil
	}
	return "", false, &ValueError{Key: KeyRetryMode, Raw: raw, Err: orMultiLine(raw, ErrMode)}
}

// ParseBehavior reads a generation by its name, v2.0 or v2.1, exactly.
// Anything else is a *[ValueError] without an origin.
func ParseBehavior(raw string) (Behavior, error) {
	switch b := Behavior(raw); b {
	case BehaviorV20, BehaviorV21:
		return b, nil
	}
	return "", &ValueError{Key: KeyBehavior, Raw: raw, Err: ErrBehavior}
}

// ParseNewRetries reads the value of AWS_NEW_RETRIES_2026: true, in any ASCII
// case, is v2.1 and everything else v2.0. It reports as known whether the value
// was true or false; surrounding spaces and tabs are dropped.
func ParseNewRetries(raw string) (behavior Behavior, known bool) {
	switch asciiLower(strings.Trim(raw, blanks)) {
	case "true":
		return BehaviorV21, true
	case "false":
		return BehaviorV20, true
	}
	return BehaviorV20, false
}

// orMultiLine picks the clearer complaint about a value that was not accepted.
func orMultiLine(raw string, err error) error {
	if strings.ContainsRune(raw, '\n') {
		return ErrMultiLine
	}
	return err
}
