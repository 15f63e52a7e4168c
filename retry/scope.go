package retry

import "strings"

// ScopeKey identifies a scope: operations with the same key share a retry quota and, in
// adaptive mode, a send rate. It is comparable. Its fields are those of Operation that make
// operations belong together, with Operation.Name as Operation; the zero value is
// the scope of the strategy as a whole.
type ScopeKey struct {
	// Scope is a name of its own; a key that has one usually has nothing else.
	Scope string
	// Account, Service, Region, Operation and Resource say what the service throttles
	// together; empty ones do not matter.
	Account, Service, Region, Operation, Resource string

	overflow bool
}

// OverflowKey returns the key of the scope that operations share when a strategy
// has as many scopes as it may.
func OverflowKey() ScopeKey { return ScopeKey{overflow: true} }

// Key returns the scope of the operation: Scope if it is set, else account, service,
// region and resource. A strategy uses it unless it is given a function for that.
func (o Operation) Key() ScopeKey {
	if o.Scope != "" {
		return ScopeKey{Scope: o.Scope}
	}
	return ScopeKey{Account: o.Account, Service: o.Service, Region: o.Region, Resource: o.Resource}
}

// IsZero reports whether k is the scope of the strategy as a whole.
func (k ScopeKey) IsZero() bool {
	return len(k.Scope)|len(k.Account)|len(k.Service)|len(k.Region)|len(k.Operation)|len(k.Resource) == 0 && !k.overflow
}

// String returns the name if there is one, and account, service, region, operation and
// resource with a slash in between, without an account or operation that is empty;
// nothing for the strategy as a whole. It is for people: two keys may look the same.
func (k ScopeKey) String() string {
	if k.overflow {
		return "(overflow)"
	}
	parts := make([]string, 0, 6)
	for _, part := range [...]struct {
		text   string
		always bool
	}{{k.Scope, false}, {k.Account, false}, {k.Service, true}, {k.Region, true}, {k.Operation, false}, {k.Resource, true}} {
		if part.always || part.text != "" {
			parts = append(parts, part.text)
		}
	}
	return strings.TrimRight(strings.Join(parts, "/"), "/")
}
