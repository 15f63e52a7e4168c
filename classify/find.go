package classify

// find returns the first error that err is or wraps which is a T and accepted.
// Unlike errors.AsType it goes on where the first T has nothing to say.
func find[T error](err error, accept func(e T) bool) (found T, ok bool) {
	for err != nil {
		if found, ok = err.(T); ok && accept(found) { //nolint:errorlint // this is the walk itself
			return found, true
		}
		switch e := err.(type) { //nolint:errorlint // this is the walk itself
		case wrapper:
			err = e.Unwrap()
		case joined:
			for _, inner := range e.Unwrap() {
				if found, ok = find(inner, accept); ok {
					return found, true
				}
			}
			return found, false
		default:
			return found, false
		}
	}
	return found, false
}
