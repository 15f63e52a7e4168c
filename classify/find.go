package classify

// maxErrors is how many errors of one failure are looked at, in the order of
// errors.Is: each one, then what it wraps. The others count as not there. So a
// failure that wraps itself, or that is wrapped in too many ways, does not hold up
// its verdict. A nil in a list of errors counts too.
const maxErrors = 1000

// find returns the first error that err is or wraps which is a T and accepted.
// Unlike errors.AsType it goes on where the first T has nothing to say.
func find[T error](err error, accept func(e T) bool) (found T, ok bool) {
	left := maxErrors
	return findWithin(&left, err, accept)
}

// findWithin takes what it looks at from what is left.
func findWithin[T error](left *int, err error, accept func(e T) bool) (found T, ok bool) {
	for err != nil && *left > 0 {
		*left--
		if found, ok = err.(T); ok && accept(found) { //nolint:errorlint // this is the walk itself
			return found, true
		}
		switch e := err.(type) { //nolint:errorlint // this is the walk itself
		case wrapper:
			err = e.Unwrap()
		case joined:
			for _, inner := range e.Unwrap() {
				switch {
				case *left <= 0:
					return found, false
				case inner == nil:
					*left--
				default:
					if found, ok = findWithin(left, inner, accept); ok {
						return found, true
					}
				}
			}
			return found, false
		default:
			return found, false
		}
	}
	return found, false
}

// is is errors.Is within maxErrors, for a target that is a pointer.
func is(err, target error) bool {
	_, ok := find(err, func(e error) bool {
		comparing, asked := e.(comparingError)
		return e == target || asked && comparing.Is(target) //nolint:errorlint // one error of the walk
	})
	return ok
}
