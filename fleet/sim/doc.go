// Package sim plays fleets of real limiters against a limited service, in the time of a
// testing/synctest bubble. It consists of tests; one of them prints the tables of fleet/RESULTS.md.
package sim
