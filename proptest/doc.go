// Package proptest tests the core with random inputs against models that are as
// plain as possible. It is a module of its own, so that the library that draws the
// inputs stays out of the requirements of the core; it has tests only and exports
// nothing.
package proptest
