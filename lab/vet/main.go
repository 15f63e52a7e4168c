// Command vet does what go vet does, but reads every dependency from source. For a system other than this one, go vet
// would first compile all dependencies, which takes ten times as long and leaves as many hundred megabytes behind.
package main

import (
	"golang.org/x/tools/go/analysis/multichecker"
	"golang.org/x/tools/go/analysis/suite/vet"
)

func main() { multichecker.Main(vet.Suite...) }
