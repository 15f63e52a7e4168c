package retry

// Behavior is a generation of retry behavior: it decides the defaults of costs, base delays
// and attempts. The empty Behavior means [V21].
type Behavior string

// The two generations that AWS tools have had.
const (
	// V21 is the default: shorter delays after failures that are not throttles, and
	// fewer retries out of one quota. AWS made it the default of its SDKs on
	// 2026-11-10. aws-sdk-go-v2 has it since v1.48.0.
	V21 Behavior = "v2.1"
	// V20 is what AWS tools did from 2020 to November 2026. Only code can select it.
	V20 Behavior = "v2.0"
)
