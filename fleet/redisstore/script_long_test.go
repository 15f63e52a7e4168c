//go:build long

package redisstore_test

import "testing"

func TestScriptDoesWhatStepDoesInManyCalls(t *testing.T) {
	t.Parallel()
	differ(t, 20_000)
}
