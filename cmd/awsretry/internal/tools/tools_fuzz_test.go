package tools

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/sharedfile"
	"github.com/awsretry/awsretry/internal/testonly/world"
)

// FuzzReaders reads two files of any bytes as each tool does. No reader panics, each says something of a line once and in
// order, and what it takes is in a line of which it has said so.
func FuzzReaders(f *testing.F) {
	f.Add("[default]\nretry_mode = adaptive\n", "[a]\nmax_attempts = 4\n")
	f.Add("\uFEFF[default]\ns3 =\n  max_attempts = 5\n\u00a0x\n[DEFAULT]\nretry_mode: legacy # c\n", "[profile a]\r[a] b]\n 'x' = \"5\"\n")
	f.Add("[profile 'a b']\nnote = '\n  max_attempts = 010\n[profile __proto__]\n", "[default]\nmax_attempts =\n  a\x0bb\n\xff\n")
	f.Fuzz(func(t *testing.T, configText, credentialsText string) {
		src := world.Texts(configText, credentialsText)
		files := Open(src, sharedfile.Open(sharedfile.Sources(src)))
		for _, tool := range all() {
			last, takes := [2]int32{-1, -1}, map[Place]int8{}
			r := tool.read([2]string{configText, credentialsText}, func(file int8, s *step) {
				require.Greater(t, s.offset, last[file])
				last[file] = s.offset
				takes[Place{file, s.offset}] = s.setting
				require.Equal(t, s.kind == part, s.of < s.offset && s.kind == part)
			})
			for _, p := range r.profiles {
				for i, v := range p.values {
					require.True(t, !v.set || takes[v.Place] == int8(i+1))
				}
			}
		}
		files.Differences(true, true, func(d Difference) {
			require.Positive(t, d.Line)
			require.LessOrEqual(t, d.Line, 1+strings.Count([]string{configText, credentialsText}[d.File], "\n"))
		})
	})
}
