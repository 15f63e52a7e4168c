package peers

import "testing"

func TestTable(t *testing.T) {
	for _, p := range peers() {
		t.Run(p.column, func(*testing.T) {})
	}
}
