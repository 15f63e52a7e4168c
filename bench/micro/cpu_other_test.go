//go:build !unix

package micro

import "testing"

// reportCPU reports nothing where there is no getrusage.
func reportCPU(*testing.B) func() { return func() {} }
