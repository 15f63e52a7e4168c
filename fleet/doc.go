// Package fleet lets all processes that call the same service share one send rate.
//
// A service limits an account, not a process. In adaptive mode each process finds its own send
// rate, and the processes fight: one that grows makes the service throttle the others. With this package they have one send rate, which a store such as Valkey or Redis
// keeps, and equal shares of it:
//
//	store, err := redisstore.New(redisstore.Config{Options: &redis.UniversalOptions{Addrs: addrs}})
//	shared, err := fleet.New(fleet.Config{Store: store, Namespace: "prod/111122223333"})
//	defer shared.Close()
//	strategy, err := adaptive.New(shared.Config(adaptive.Config{}))
//
// # How it works
//
// A member of the fleet is the limiter of one scope in one process. A member with attempts
// that wait asks the store for slots, at each of which it may send one attempt, and gets a run
// of them: how many, when the first is due, and how far they are apart. In the same call it
// says how many of its attempts the service has answered, and how many it has throttled. From
// these the store steers the send rate of the fleet: [Step] has the rules. As long as the
// service throttles nothing, the scope is open: the store keeps nothing and holds no attempt
// back.
//
// Nothing that happens to the store is an error of an attempt. A member that loses the store
// goes on alone, at the rate at which it has sent of late.
package fleet
