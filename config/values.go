package config

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/awsretry/awsretry/internal/sharedfile"
	"github.com/awsretry/awsretry/retry"
)

// What the settings accept. Each of these is the Err of a ValueError.
var (
	errMode        = errors.New("must be standard or adaptive")
	errBehavior    = errors.New("must be v2.0 or v2.1")
	errMaxAttempts = errors.New("must be a decimal integer from 1 to 2147483647")
	errMaxBackoff  = errors.New("must be a duration above zero, such as 20s")
	errDuration    = errors.New("must be a duration of zero or more, such as 300ms or 1m30s")
	errNoSetting   = errors.New("must be for retry_mode, max_attempts, max_backoff, min_delay or max_elapsed")
	// errMultiLine is for a value that spans several lines of a file, most often because the
	// line below it is indented.
	errMultiLine = errors.New("must be a single line (in a file, a line that is indented deeper continues the one above)")
)

// Check returns a [*ValueError] if the setting that Origin.Key names does not accept Raw, or if
// there is no such setting.
func (c Candidate) Check() error {
	err := check(c.Origin.Key, c.Raw)
	if err == nil {
		return nil
	}
	return &ValueError{Origin: c.Origin, Key: c.Origin.Key, Raw: c.Raw, Err: err}
}

// check returns why a retry setting, or one of a program's own file or flag, does not accept a text.
func check(key, text string) (err error) {
	switch key {
	case keyRetryMode:
		_, err = readMode(text)
	case keyMaxAttempts:
		_, err = readMaxAttempts(text)
	case keyMaxBackoff:
		_, err = readMaxBackoff(text)
	case keyMinDelay, keyMaxElapsed:
		_, err = readDuration(text)
	default:
		err = errNoSetting
	}
	return err
}

// readMode reads a retry mode. It drops whitespace at both ends and ignores ASCII case. It
// reads legacy and adaptive_v2, which other AWS tools accept, as standard and adaptive.
func readMode(text string) (Mode, error) {
	switch sharedfile.ASCIILower(sharedfile.Trim(text)) {
	case "standard", "legacy":
		return modeStandard, nil
	case "adaptive", "adaptive_v2":
		return modeAdaptive, nil
	}
	return "", orMultiLine(text, errMode)
}

// acceptMode accepts a mode in code as readMode accepts its text.
func acceptMode(m Mode) (Mode, error) { return readMode(string(m)) }

// readMaxAttempts reads a number of attempts, from 1 to 2^31-1: decimal digits, perhaps after
// a plus sign. It drops whitespace at both ends and leading zeros (010 is ten).
func readMaxAttempts(text string) (int, error) {
	n, err := strconv.ParseUint(strings.TrimPrefix(sharedfile.Trim(text), "+"), 10, 31)
	if err != nil {
		return 0, orMultiLine(text, errMaxAttempts)
	}
	return acceptMaxAttempts(int(n))
}

func acceptMaxAttempts(n int) (int, error) {
	if n < 1 || n > math.MaxInt32 {
		return 0, errMaxAttempts
	}
	return n, nil
}

// readDuration reads a duration of zero or more as time.ParseDuration does. It drops
// whitespace at both ends.
func readDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(sharedfile.Trim(text))
	if err != nil {
		return 0, errDuration
	}
	return acceptDuration(d)
}

func acceptDuration(d time.Duration) (time.Duration, error) {
	if d < 0 {
		return 0, errDuration
	}
	return d, nil
}

// readMaxBackoff reads a duration above zero.
func readMaxBackoff(text string) (time.Duration, error) {
	d, _ := readDuration(text)
	return acceptMaxBackoff(d)
}

func acceptMaxBackoff(d time.Duration) (time.Duration, error) {
	if d <= 0 {
		return 0, errMaxBackoff
	}
	return d, nil
}

func acceptBehavior(b retry.Behavior) (retry.Behavior, error) {
	if b != retry.V20 && b != retry.V21 {
		return "", errBehavior
	}
	return b, nil
}

// anyName accepts the name of a profile as it is (R21).
func anyName(name string) (string, error) { return name, nil }

// text returns the text of a value that is a text.
func text[S ~string](value S) string { return string(value) }

// orMultiLine returns errMultiLine for a value of several lines, and else err.
func orMultiLine(raw string, err error) error {
	if strings.ContainsRune(raw, '\n') {
		return errMultiLine
	}
	return err
}
