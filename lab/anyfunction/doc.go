// Package anyfunction has the programs of docs/any-function.md, and plays them against servers of gRPC, of PostgreSQL and of MariaDB.
package anyfunction
