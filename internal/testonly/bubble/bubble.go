// Package bubble looks into a bubble of testing/synctest.
package bubble

import (
	"bytes"
	"regexp"
	"runtime"
)

// header is the first line of a goroutine in a bubble, up to the number of the bubble.
var header = regexp.MustCompile(`(?m)^goroutine \d+ \[.*(synctest bubble \d+)\]:$`)

// Goroutines returns how many goroutines are in the bubble of the caller, the caller among them. Other
// tests do not matter, unlike for [runtime.NumGoroutine]. It panics outside of a bubble.
func Goroutines() (n int) {
	all := stacks()
	own := header.FindSubmatch(all) // the caller comes first
	if own == nil || !bytes.HasPrefix(all, own[0]) {
		panic("bubble: Goroutines outside of a bubble")
	}
	for _, each := range header.FindAllSubmatch(all, -1) {
		if bytes.Equal(each[1], own[1]) {
			n++
		}
	}
	return n
}

// stacks returns the stacks of all goroutines.
func stacks() []byte {
	for size := 1 << 16; ; size *= 2 {
		text := make([]byte, size)
		if n := runtime.Stack(text, true); n < size {
			return text[:n]
		}
	}
}
