//go:build !servers

package servers

import "math"

func calls() int { return 5_000 }

// mostMicroseconds is not bounded while other tests use the processor.
func mostMicroseconds() float64 { return math.Inf(1) }
