package config

// These read values.
var (
	ReadMode        = readMode
	ReadMaxAttempts = readMaxAttempts
	ReadMaxBackoff  = readMaxBackoff
	ReadDuration    = readDuration
	AcceptBehavior  = acceptBehavior
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
