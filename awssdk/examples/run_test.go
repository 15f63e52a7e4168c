package examples_test

import (
	"os"
	"testing"
)

// TestExamplesRun runs the examples whose output depends on the environment.
func TestExamplesRun(t *testing.T) {
	for name, value := range map[string]string{
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
		"AWS_PROFILE": "", "AWS_DEFAULT_PROFILE": "", "AWS_RETRY_MODE": "", "AWS_MAX_ATTEMPTS": "",
	} {
		t.Setenv(name, value)
	}
	Example_behaviorBefore()
	Example_scopeOfTheClient()
}
