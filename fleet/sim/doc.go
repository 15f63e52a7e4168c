// Package sim plays fleets of real limiters against a limited service, in the time of a
// testing/synctest bubble. It consists of tests, and of the command behind the tables of
// fleet/RESULTS.md, which is one of them.
package sim
