// Package nginx tests adaptive mode over HTTP with a real nginx that limits requests. The build tag servers
// runs it.
package nginx
