// Package sim plays the clients of a service that limits them, fails and recovers, in virtual time,
// and counts the outcomes. The service and the load run in any [World]: on a [Clock], as in
// [Play], or in a bubble of testing/synctest, where clients of other libraries can sleep.
package sim
