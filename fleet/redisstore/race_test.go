//go:build race

package redisstore_test

// race says that the race detector slows the Lua of miniredis down, eightfold.
const race = true
