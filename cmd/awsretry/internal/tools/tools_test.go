package tools

import (
	"cmp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/sharedfile"
	"github.com/awsretry/awsretry/internal/testonly/vectors"
	"github.com/awsretry/awsretry/internal/testonly/world"
)

// opened returns the files of a case beside awsretry's reading.
func opened(f vectors.ToolFiles) *Comparison {
	tree := fstest.MapFS{}
	for name, file := range map[string]*vectors.ToolFile{"h/.aws/config": f.Config, "h/.aws/credentials": f.Credentials} {
		if file != nil {
			tree[name] = &fstest.MapFile{Data: file.Data()}
		}
	}
	env := map[string]string{"HOME": "/h"}
	for key, text := range f.Env {
		env[key] = text
	}
	src := config.Sources{FS: world.On("linux", tree), LookupEnv: world.LookupIn(env)}
	return Open(src, sharedfile.Open(sharedfile.Sources(src)))
}

// reads returns what a tool makes of the profile in use, as the vectors have it.
func (c *Comparison) reads(t tool) string {
	b := &beside{Comparison: c, tool: t}
	b.read()
	switch o := t.of(b.its, c.env); o.state {
	case refused:
		return "refused"
	case missing:
		return "NOT-FOUND"
	default:
		return strings.Replace(cmp.Or(o.texts[mode], "-"), jsEmpty, "", 1) + "/" + cmp.Or(o.texts[attempts], "-")
	}
}

func TestReadersReadWhatAllToolsReadAlike(t *testing.T) {
	t.Parallel()
	text := func(s *string) string {
		if s == nil {
			return "-"
		}
		return *s
	}
	for source, file := range vectors.Load[vectors.ToolsAgree](t, "tools-agree.json") {
		for _, c := range file.Cases {
			files := opened(c.ToolFiles)
			want := text(c.Want.RetryMode) + "/" + text(c.Want.MaxAttempts)
			for _, tool := range all() {
				require.Equal(t, want, files.reads(tool), "%s %s %s", source, c.ID, tool.name)
			}
			files.Differences(false, false, func(d Difference) { t.Errorf("%s %s: %v", source, c.ID, d) })
		}
	}
}

func TestReadersReadWhatEachToolReads(t *testing.T) {
	t.Parallel()
	for source, file := range vectors.Load[vectors.ToolsTable](t, "tools-table.json") {
		for _, c := range file.Cases {
			files := opened(c.ToolFiles)
			for i, name := range [...]string{"go", "boto", "cli2", "js"} {
				want := c.ReadAs[name]
				if !strings.Contains(want, "/") && want != "NOT-FOUND" { // Any other error.
					want = "refused"
				}
				require.Equal(t, want, files.reads(all()[i]), "%s %s %s", source, c.Title, name)
			}
		}
	}
}
