// Package sim plays the clients of a service that limits them, fails and recovers, in virtual
// time, and counts what comes of it. The service and the load run in any [World]: in that of a
// [virtual.Clock], as [Play] lets them, or in a bubble of testing/synctest, in which clients of
// other libraries can sleep.
package sim
