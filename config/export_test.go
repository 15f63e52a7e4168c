package config

// These read values.
var (
	ReadMode        = modeRule().read
	ReadMaxAttempts = attemptsRule().read
	ReadMaxBackoff  = longestRule().read
	ReadDuration    = durationRule(keyMinDelay).read
	AcceptBehavior  = behaviorRule().accept
)

// What the settings accept.
var (
	ErrMode        = errMode
	ErrBehavior    = errBehavior
	ErrMaxAttempts = errMaxAttempts
	ErrMaxBackoff  = errMaxBackoff
	ErrDuration    = errDuration
	ErrMultiLine   = errMultiLine
)
