// Package fleet lets all processes that call the same service share one send rate.
//
// A service limits an account, not a process. In adaptive mode each process finds its own send
// rate, and the processes fight: one that grows makes the service throttle the others. With this
// package they get equal shares of one send rate, kept in a store such as Valkey or Redis:
//
//	store, err := redisstore.New(redisstore.Config{Options: &redis.UniversalOptions{Addrs: addrs}})
//	shared, err := fleet.New(fleet.Config{Store: store, Namespace: "prod/111122223333"})
//	defer shared.Close()
//	strategy, err := adaptive.New(shared.Config(adaptive.Config{}))
//
// # How it works
//
// A member of the fleet is the limiter of one scope in one process. When attempts wait, the member
// asks the store for slots. Each slot allows one attempt, and the reply is a run of slots: how
// many, when the first is due, and how far apart they are. The same call reports how many attempts
// the service answered and how many it throttled. From these the store steers the send rate of the
// fleet by the rules of [Step]. As long as the service throttles nothing, the scope is open: the
// store keeps nothing and holds no attempt back.
//
// A store failure never fails an attempt. A member that loses the store goes on alone, at the rate
// at which it sent recently. An event says so, see [EventKind].
package fleet
