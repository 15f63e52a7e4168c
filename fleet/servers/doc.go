// Package servers tests fleets and their store against a real redis-server. With the build tag
// race it has the short tests only, and with servers all.
package servers
