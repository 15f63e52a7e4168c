package classify

// windowsErrno says what a number means on Windows. There the constants of the
// syscall package are made up, so that a connection which the peer reset is not
// syscall.ECONNRESET, nor is WSAETIMEDOUT a timeout for syscall.Errno. The numbers
// are those of winerror.h.
func windowsErrno(n uintptr) facet {
	switch n {
	case 64, // ERROR_NETNAME_DELETED
		109,   // ERROR_BROKEN_PIPE
		232,   // ERROR_NO_DATA: the pipe is being closed
		1225,  // ERROR_CONNECTION_REFUSED
		1231,  // ERROR_NETWORK_UNREACHABLE
		1232,  // ERROR_HOST_UNREACHABLE
		1236,  // ERROR_CONNECTION_ABORTED
		10050, // WSAENETDOWN
		10051, // WSAENETUNREACH
		10052, // WSAENETRESET
		10053, // WSAECONNABORTED
		10054, // WSAECONNRESET
		10058, // WSAESHUTDOWN
		10061, // WSAECONNREFUSED
		10064, // WSAEHOSTDOWN
		10065: // WSAEHOSTUNREACH
		return disconnected
	case 121, // ERROR_SEM_TIMEOUT
		1460,  // ERROR_TIMEOUT
		10060: // WSAETIMEDOUT
		return timedOut
	default:
		return 0
	}
}
