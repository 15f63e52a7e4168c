package sdktest

import "testing"

// TestExamplesRun runs the examples whose output depends on the environment.
func TestExamplesRun(t *testing.T) {
	home(t)
	Example_behaviorBefore()
	Example_scopeOfTheClient()
}
