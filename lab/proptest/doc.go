// Package proptest tests the core with random inputs against models that are as
// plain as possible.
package proptest
