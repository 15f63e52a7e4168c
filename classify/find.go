package classify

import "github.com/awsretry/awsretry/internal/errtree"

// find returns the first error that err is or wraps which is a T and accepted.
// Unlike errors.AsType it goes on where the first T has nothing to say.
func find[T error](err error, accept func(e T) bool) (found T, ok bool) {
	for e := range errtree.All(err) {
		if found, ok := e.(T); ok && accept(found) { //nolint:errorlint // one error of the walk
			return found, true
		}
	}
	return found, false
}
