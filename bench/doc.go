// Package bench measures this project beside its peers, in one run. It is a module
// of its own, so that the peers stay out of the requirements of the core.
package bench
