// Package peers runs the conformance suite against the retryers of other libraries and of this module.
// It has tests only, and is not released.
package peers
