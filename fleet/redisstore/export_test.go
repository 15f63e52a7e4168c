package redisstore

import (
	"github.com/awsretry/awsretry/clock"
)

// ParseReply lets the fuzz test call it.
var ParseReply = parseReply

// WithClock returns the settings with a clock.
func WithClock(c Config, clk clock.Clock) Config {
	c.clock = clk
	return c
}
