package classify

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/awsretry/awsretry/internal/errtree"
)

// saysServerFault reports whether the ErrorFault method of the first error that has
// one says that the fault is the server's; see Traits for why this takes reflection.
// A method that takes arguments, or returns anything but one fmt.Stringer, is
// another one.
func saysServerFault(err error) bool {
	for e := range errtree.All(err) {
		method := reflect.ValueOf(e).MethodByName("ErrorFault")
		if !method.IsValid() || method.Type().NumIn() != 0 || method.Type().NumOut() != 1 {
			continue
		}
		if fault, ok := reflect.TypeAssert[fmt.Stringer](method.Call(nil)[0]); ok {
			return strings.EqualFold(fault.String(), "server")
		}
	}
	return false
}
