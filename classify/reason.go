package classify

// Reach says how much a throttle covers, compared with the scope of the operation.
type Reach uint8

// The reaches.
const (
	// ReachUnknown: the error does not say.
	ReachUnknown Reach = iota
	// ReachPart: less than the scope, such as one key range of a table.
	ReachPart
	// ReachScope: the scope itself, such as a table or a function.
	ReachScope
	// ReachWider: more than the scope, such as the account in a region.
	ReachWider
	// ReachOther: something outside the scope, such as an index of the table.
	ReachOther
)

// String returns the name of the reach: "unknown", "part", "scope", "wider" or "other"; "unknown" for any
// other value.
func (r Reach) String() string {
	switch r {
	case ReachUnknown:
		return "unknown"
	case ReachPart:
		return "part"
	case ReachScope:
		return "scope"
	case ReachWider:
		return "wider"
	case ReachOther:
		return "other"
	default:
		return "unknown"
	}
}

// Reason is one limit that a throttle was about. An error returns its reasons from a method
// ThrottledBy() []Reason.
type Reason struct {
	// Reach is how much the limit covers.
	Reach Reach
	// Word is what the service calls the limit, such as "TableReadKeyRangeThroughputExceeded";
	// empty if it has no word for it.
	Word string
	// Quota is the code of the quota in Service Quotas, such as "L-F98FE922", with the code of the
	// service and a slash in front if the error names it; empty if the error names none.
	Quota string
}

// String returns the word, or else the quota, and the reach, such as
// "TableReadKeyRangeThroughputExceeded (part)".
func (r Reason) String() string {
	name := r.Word
	if name == "" {
		name = r.Quota
	} else if r.Quota != "" {
		name += ", " + r.Quota
	}
	if name == "" {
		return r.Reach.String()
	}
	return name + " (" + r.Reach.String() + ")"
}

// widestOf returns the reach of a throttle with these reasons: ReachPart only if all of them
// cover a part, because any other one concerns all calls of the scope.
func widestOf(reasons []Reason) Reach {
	reach := ReachUnknown
	for i, r := range reasons {
		if i == 0 || rank(r.Reach) > rank(reach) {
			reach = r.Reach
		}
	}
	return reach
}

// rank orders the reaches by how many calls they concern.
func rank(r Reach) int {
	switch r {
	case ReachPart:
		return 0
	case ReachOther:
		return 2
	case ReachScope:
		return 3
	case ReachWider:
		return 4
	case ReachUnknown:
		return 1
	default:
		return 1
	}
}
