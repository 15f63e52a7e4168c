// Package sim plays fleets of real limiters against a limited service, in the time of a
// testing/synctest bubble. It consists of tests; one of them prints tables.
package sim
