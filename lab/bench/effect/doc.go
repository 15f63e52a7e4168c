// Package effect plays clients against services that limit them, fail and recover,
// in virtual time, and counts what comes of it. All clients meet the same service.
package effect
