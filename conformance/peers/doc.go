// Package peers runs the conformance suite against the retryers of other libraries and of this module,
// and writes the results to docs/conformance.md. It has tests only, and is not released.
//
//	go test -run '^TestTable$' . -update               # writes the page
//	go test -run '^TestTable$' . -args -results FILE   # writes a line for each peer and rule
package peers
