// Package peers runs the conformance suite against the retryers of other libraries and of this module,
// and writes the results to lab/conformance/peers.md.
//
//	go test -run '^TestTable$' ./peers -update               # writes the page
//	go test -run '^TestTable$' ./peers -args -results FILE   # writes a line for each peer and rule
package peers
