package retry

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/awsretry/awsretry/clock"
)

// ErrNoStrategy is the error for a strategy that is nil or that its constructor did
// not make.
var ErrNoStrategy = errors.New("no strategy")

// CheckStrategy returns an error, which is ErrNoStrategy, for a strategy that cannot be
// used: nil, a nil pointer, or one whose method Clock, if it has one, returns nil, as
// that of the zero Strategy of each mode does. It is for code that is given a strategy
// and uses it later.
func CheckStrategy(s Strategy) error {
	if err := checkNil(s); err != nil {
		return err
	}
	if own, ok := s.(interface{ Clock() clock.Clock }); ok && own.Clock() == nil {
		return fmt.Errorf("%w: a %T that its constructor did not make: use what that returns, such as standard.New", ErrNoStrategy, s)
	}
	return nil
}

func checkNil(s Strategy) error {
	if s == nil {
		return fmt.Errorf("%w: use what standard.New, adaptive.New or awsretry.Load returns", ErrNoStrategy)
	}
	if v := reflect.ValueOf(s); v.Kind() == reflect.Pointer && v.IsNil() {
		return fmt.Errorf("%w: a nil %T: use what its constructor returns, such as standard.New", ErrNoStrategy, s)
	}
	return nil
}
