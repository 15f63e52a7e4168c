// Package retry is the contract between those who retry and the strategies that
// say whether and when: the Strategy interface with its tokens, the loop Do that
// uses it, the errors and the events.
//
// A Strategy is shared by many operations; what belongs to one operation travels
// in a Token. Do is the only loop most programs need. Whoever has a loop of their
// own calls the strategy's four verbs as Do does.
package retry
