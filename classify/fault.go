package classify

import (
	"fmt"
	"reflect"
	"strings"
)

// errorFault returns what the ErrorFault method of the first error says that has
// one; see Traits for why this takes reflection. A method that takes arguments, or
// returns anything but one fmt.Stringer, is another one.
func errorFault(err error) Fault {
	fault := FaultUnknown
	_, _ = find(err, func(e error) bool {
		method := reflect.ValueOf(e).MethodByName("ErrorFault")
		if !method.IsValid() || method.Type().NumIn() != 0 || method.Type().NumOut() != 1 {
			return false
		}
		text, ok := reflect.TypeAssert[fmt.Stringer](method.Call(nil)[0])
		if !ok {
			return false
		}
		fault = faultNamed(text.String())
		return true
	})
	return fault
}

func faultNamed(name string) Fault {
	switch {
	case strings.EqualFold(name, "server"):
		return FaultServer
	case strings.EqualFold(name, "client"):
		return FaultClient
	default:
		return FaultUnknown
	}
}
