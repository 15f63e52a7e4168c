// Package ten has ten common programs, each with the library that is shortest at it, and counts them
// and those of this module for the page recipes.
package ten
