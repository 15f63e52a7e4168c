package micro

import (
	"os"
	"testing"
)

// TestMain gives aws-sdk-go-v2 the behavior v2.1, which is ours. It is its default
// since v1.48.0; the version that is measured is older and follows the variable.
func TestMain(m *testing.M) {
	if err := os.Setenv("AWS_NEW_RETRIES_2026", "true"); err != nil {
		panic(err)
	}
	m.Run()
}
