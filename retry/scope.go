package retry

import "strings"

// ScopeKey identifies a scope: operations with the same key share a retry quota,
// or a send rate. It is comparable. Its fields are those of Operation that make
// operations belong together, with Operation.Name as Operation; the zero value is
// the scope of the strategy as a whole.
type ScopeKey struct {
	// Scope is a name of its own; a key that has one usually has nothing else.
	Scope string
	// Service, Region, Operation and Resource say whom the service throttles
	// together; empty ones do not matter.
	Service, Region, Operation, Resource string

	overflow bool
}

// OverflowKey returns the key of the scope that operations share when a strategy
// has as many scopes as it may.
func OverflowKey() ScopeKey { return ScopeKey{overflow: true} }

// Key returns the scope of the operation: Scope if it is set, else service, region
// and resource. It is the key of its retry quota and of its send rate unless the
// strategy is given a function for that.
func (o Operation) Key() ScopeKey {
	if o.Scope != "" {
		return ScopeKey{Scope: o.Scope}
	}
	return ScopeKey{Service: o.Service, Region: o.Region, Resource: o.Resource}
}

// Unscoped reports whether the Key of the operation is zero, without making the
// key.
func (o Operation) Unscoped() bool {
	return len(o.Scope)|len(o.Service)|len(o.Region)|len(o.Resource) == 0
}

// IsZero reports whether k is the scope of the strategy as a whole.
func (k ScopeKey) IsZero() bool {
	return len(k.Scope)|len(k.Service)|len(k.Region)|len(k.Operation)|len(k.Resource) == 0 && !k.overflow
}

// String returns the name if there is one, and service, region, operation and
// resource with a slash in between, without an operation that is empty; nothing for
// the strategy as a whole. It is for people: two keys may look the same.
func (k ScopeKey) String() string {
	if k.overflow {
		return "(overflow)"
	}
	parts := []string{k.Service, k.Region, k.Resource}
	if k.Operation != "" {
		parts = []string{k.Service, k.Region, k.Operation, k.Resource}
	}
	if k.Scope != "" {
		parts = append([]string{k.Scope}, parts...)
	}
	return strings.TrimRight(strings.Join(parts, "/"), "/")
}
