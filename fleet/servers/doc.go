// Package servers tests fleets and their store against a real redis-server. The build tag race
// limits it to the short tests; the tag servers runs all.
package servers
