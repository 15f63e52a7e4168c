// Package limit bounds what the operations of a strategy may do: how many retries they make, and when they may send.
//
// A [Table] has a [Scope] for each key. A scope has a [Quota], which pays for retries, and in adaptive mode a limiter, which
// has send tokens. Who finds no token waits in a [Line]. This is who stands where:
//
//	                           waits for a token of            served by
//	a retry after a throttle
//	of a part of the scope --> the part [line in front]
//	                              |
//	                              v
//	any other attempt -------> the scope [line] ------------> the send rate, first come, first served
//
//	a retry without quota ---> its scope [line beside] -----> the quota of its scope,
//	a retry of another scope > its scope [line beside] -----> or the pool: first who came first of all
//
// A caller in front takes, once it has a token of the part, the place in the line of the scope that it would have if it had
// come there. Others do not wait behind it before that.
//
// Each file uses those before it: refill.go is the arithmetic of tokens that come with time; request.go says which waits a
// caller accepts; line.go lets callers wait; debt.go limits what a quota may lack; quota.go is the retry quota and the pool; batches.go judges answers to batches;
// scope.go is what operations with one key share; table.go finds scopes, evicts them, and keeps what they owe.
//
// Locks are taken in this order: the lock of a line, which lines in front of it and lines beside it
// share; then a lock of an [Account]; then a lock of the clock. An account must not call a line while
// it holds its own lock. No lock is held while a caller waits or while code of a caller runs. The lock of a table is
// taken before that of a line, and never while code of the user runs.
package limit
