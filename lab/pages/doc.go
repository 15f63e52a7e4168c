// Package pages checks the repository itself: the links, names, code and commands of its pages, the names of its test
// files, and what is tracked.
package pages
