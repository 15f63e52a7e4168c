// Package micro measures small steps of this project beside those of its peers and
// beside what the machine needs for the least that would do. Every subject of a
// benchmark runs through the same function type, on the same inputs, next to the
// others.
package micro
