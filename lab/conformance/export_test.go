package conformance

import (
	"io/fs"
	"testing"
)

// CheckCases is Check with the cases of a folder.
func CheckCases(t *testing.T, s Subject, cases fs.ReadFileFS) (Report, error) {
	t.Helper()
	b, err := read(cases)
	if err != nil {
		t.Fatal(err)
	}
	return check(t, s, b)
}
