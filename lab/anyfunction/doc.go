// Package anyfunction has the programs of docs/any-function.md, and plays them against servers of gRPC and of PostgreSQL.
package anyfunction
