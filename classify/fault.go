package classify

import (
	"fmt"
	"reflect"
	"strings"
)

// saysServerFault reports whether the ErrorFault method of the first error that has
// one says that the fault is the server's; see Traits for why this takes reflection.
// A method that takes arguments, or returns anything but one fmt.Stringer, is
// another one.
func saysServerFault(err error) bool {
	server := false
	_, _ = find(err, func(e error) bool {
		method := reflect.ValueOf(e).MethodByName("ErrorFault")
		if !method.IsValid() || method.Type().NumIn() != 0 || method.Type().NumOut() != 1 {
			return false
		}
		fault, ok := reflect.TypeAssert[fmt.Stringer](method.Call(nil)[0])
		server = ok && strings.EqualFold(fault.String(), "server")
		return ok
	})
	return server
}
