// Package promises plays what the pages promise with each feature that could break it. A row is a promise, a column a
// feature, and a cell a run in virtual time. The README of this directory is the table that the test writes.
package promises
