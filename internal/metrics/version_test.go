package metrics

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVersionIsThatOfTheModule(t *testing.T) {
	t.Parallel()
	other := &debug.Module{Path: "example.com/other", Version: "v9.9.9"}
	for name, tt := range map[string]struct {
		info *debug.BuildInfo
		want string
	}{
		"nothing is known": {nil, "(devel)"},
		"required": {
			&debug.BuildInfo{Main: *other, Deps: []*debug.Module{other, {Path: module, Version: "v1.2.3"}}}, "v1.2.3",
		},
		"replaced by a folder": {
			&debug.BuildInfo{Deps: []*debug.Module{{Path: module, Version: "v1.2.3", Replace: &debug.Module{Path: "../"}}}}, "(devel)",
		},
		"replaced by a fork": {
			&debug.BuildInfo{Deps: []*debug.Module{{Path: module, Version: "v1.2.3", Replace: other}}}, "v9.9.9",
		},
		"a program of this module": {&debug.BuildInfo{Main: debug.Module{Path: module, Version: "v1.2.4"}}, "v1.2.4"},
		"a checkout":               {&debug.BuildInfo{Main: debug.Module{Path: module}}, "(devel)"},
		"not a part of it":         {&debug.BuildInfo{Main: *other}, "(devel)"},
	} {
		require.Equal(t, tt.want, of(tt.info), name)
	}
	require.NotEmpty(t, Version())
}
