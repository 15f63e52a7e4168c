package wire

import "strings"

// BareCode returns an error code without what the wire formats put around it: the
// namespace of com.amazon#Code and the address of Code:http://... . It is empty if
// nothing else is there.
func BareCode(code string) string {
	if end := strings.IndexByte(code, ':'); end >= 0 {
		code = code[:end]
	}
	return code[strings.IndexByte(code, '#')+1:]
}
