//go:build !race

package redisstore_test

const race = false
