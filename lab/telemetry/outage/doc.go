// Package outage plays two hours in the life of a program, in virtual time, so that dashboards,
// alerts and goldens have figures to show.
//
// The program makes calls of six services in two regions. Four strategies retry them: one in
// standard mode, one in adaptive mode, and two in adaptive mode with a fleet. One fleet shares the
// send rate with two other processes, because the three together want more of a stream than it
// allows. The other fleet cannot reach its store at first. In the first hour a few percent of the
// requests fail, as on any good day. Then the outage comes:
//
//	minute 60 to 95   the limit of table orders falls, so that adaptive mode waits more than 10 s
//	minute 62 to 95   lambda fails each request, so that the quota of its scope empties
//	minute 65 to 95   sqs throttles nearly every other request
//	minute 68 to 95   a new job has never reached the store of its fleet
//	minute 70 to 95   a job reads more tables than there are places for scopes
//	minute 75 to 85   the fleet cannot reach its store, so that each process goes on alone
//	minute 95 to 120  the services have recovered
//
// All runs are identical to the byte: one caller runs at a time, in the order of the virtual clock, and
// all random numbers come from one seed.
package outage
