package lint_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/cmd/awsretry/internal/lint"
	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/testonly/vectors"
	"github.com/awsretry/awsretry/internal/testonly/world"
)

// Sets of tools.
const (
	onlyGo = "aws-sdk-go-v2"
	python = "botocore aws-cli"
	onlyJS = "js"
)

// shared returns sources of two files. A nil file does not exist.
func shared(configFile, credentials []byte, env map[string]string) config.Sources {
	tree := fstest.MapFS{}
	if configFile != nil {
		tree["config"] = &fstest.MapFile{Data: configFile}
	}
	if credentials != nil {
		tree["credentials"] = &fstest.MapFile{Data: credentials}
	}
	all := map[string]string{"AWS_CONFIG_FILE": "/config", "AWS_SHARED_CREDENTIALS_FILE": "/credentials"}
	maps.Copy(all, env)
	return config.Sources{FS: tree, LookupEnv: world.LookupIn(all)}
}

// readDifferently returns the findings with that code.
func readDifferently(found []lint.Diagnostic) []lint.Diagnostic {
	return slices.DeleteFunc(slices.Clone(found), func(d lint.Diagnostic) bool { return d.Code != "read-differently" })
}

// places returns findings as "line tools".
func places(found []lint.Diagnostic) []string {
	texts := []string{}
	for _, d := range readDifferently(found) {
		texts = append(texts, strconv.Itoa(d.Line)+" "+strings.Join(d.Tools, " "))
	}
	return texts
}

// The cases of tools-table.json have the usual lines, and these what is less usual.
func TestLintNamesTheToolsThatReadALineDifferently(t *testing.T) {
	t.Parallel()
	const all = onlyGo + " " + python + " " + onlyJS
	for name, c := range map[string]struct {
		config, credentials string
		want                []string
	}{
		// Values.
		"mode adaptive_v2":                 {credentials: "[default]\nretry_mode = adaptive_v2\n", want: []string{"2 " + all}},
		"mode that no tool knows":          {config: "[default]\nretry_mode = foo\n", want: []string{"2 " + onlyJS}},
		"leading zeros that mean the same": {config: "[default]\nmax_attempts = 007\n"},
		"number that is not accepted":      {config: "[default]\nmax_attempts = 0\n", want: []string{"2 " + onlyGo + " " + onlyJS}},
		"comment behind a mode":            {config: "[default]\nretry_mode = adaptive # c\n", want: []string{"2 " + python}},
		// Lines.
		"two reasons on one line":                         {config: "[default]\nmax_attempts: 5 # c\n", want: []string{"2 " + python + " " + onlyJS}},
		"retry setting with colon below one":              {config: "[default]\nregion = a\n  max_attempts: 5\n", want: []string{"3 " + onlyGo}},
		"retry setting below a malformed line":            {config: "[default]\nmalformed\n  max_attempts = 5\n", want: []string{"2 " + python, "3 " + onlyGo + " " + onlyJS}},
		"retry setting below a dropped property":          {config: "[default]\nin valid = 1\n  retry_mode: adaptive\n", want: []string{"3 " + onlyGo}},
		"retry setting below a malformed line in a block": {config: "[default]\ns3 =\nmalformed\n  max_attempts = 5\n", want: []string{"3 " + python}},
		"one quote below a malformed line":                {config: "[default]\nmalformed\n  note = '\n", want: []string{"2 " + python, "3 " + onlyGo}},
		"one quote before the first section":              {config: "note = '\n[default]\n", want: []string{"1 " + onlyGo + " " + python}},
		"retry setting in a block":                        {config: "[default]\ns3 =\n  max_attempts = 5\n"},
		"indented one further below a block":              {config: "[default]\n  s3 =\n  region = a\n  max_attempts = 5\n", want: []string{"4 " + onlyGo + " " + onlyJS}},
		"one further below quotes around nothing":         {config: "[default]\n  region = \"\"\n  a = b\n  max_attempts = 5\n", want: []string{"4 " + onlyGo}},
		"one on the margin below quotes around nothing":   {config: "[default]\nregion = ''\nmax_attempts = 5\n"},
		"value of one double quote":                       {credentials: "[default]\nnote: \"\n", want: []string{"2 " + onlyGo}},
		"one quote in a block":                            {config: "[default]\ns3 =\n  a = '\n", want: []string{"3 " + onlyGo}},
		"CR within a line":                                {config: "[default]\nnote = a\rb = c\n"},
		"CR within a comment":                             {config: "[default]\n# a\rmax_attempts = 5\n", want: []string{"2 " + python}},
		"CR in place of each LF":                          {config: "[default]\rmax_attempts = 5\r", want: []string{"1 " + python}},
		"CR within a header":                              {credentials: "[de\rv]\nmax_attempts = 5\n", want: []string{"1 " + python, "2 " + onlyJS}},
		"colon before an equals sign":                     {config: "[default]\nmax_attempts: 5 = x\n", want: []string{"2 " + onlyGo + " " + python}},
		"access key alone":                                {credentials: "[default]\naws_access_key_id = a\n", want: []string{"2 " + onlyGo}},
		"secret key alone":                                {config: "[default]\nregion = a\nAWS_SECRET_ACCESS_KEY = a\n", want: []string{"3 " + onlyGo}},
		"both keys, in two sections":                      {config: "[profile a]\naws_access_key_id = a\n[profile  a]\naws_secret_access_key = a\nmax_attempts = 5\n", want: []string{"5 " + onlyJS}},
		"access key alone, and both in credentials": {
			config: "[default]\naws_access_key_id = a\n", credentials: "[default]\naws_access_key_id = a\naws_secret_access_key = a\n",
		},
		"both keys, of which one is in a block": {
			credentials: "[default]\n  aws_access_key_id = a\n  s3 =\n  aws_secret_access_key = a\n", want: []string{"2 " + onlyGo},
		},
		"key twice in a [default] of no effect": {config: "[default]\na = 1\na = 2\n[profile default]\nb = 1\n", want: []string{"3 " + python}},
		"key twice, once before a colon":        {config: "[default]\nmax_attempts: 5 = 1\nmax_attempts = 2\n", want: []string{"3 " + python}},
		"two keys before a colon":               {config: "[default]\na: b = 1\na: c = 2\n", want: []string{"3 " + python}},
		// Headers.
		"[DEFAULT] twice":                                   {config: "[DEFAULT]\na = 1\n[DEFAULT]\nb = 1\nmax_attempts = 5\n", want: []string{"1 " + onlyGo}},
		"one profile, two headers":                          {config: "[profile dev]\na = 1\n[profile \"dev\"]\na = 2\n", want: []string{"3 " + onlyGo}},
		"[default] before [profile default]":                {config: "[default]\na = 1\n[profile default]\nb = 1\n"},
		"[default] before [profile default] without values": {config: "[default]\nmax_attempts = 5\n[profile default]\ns3 =\na: b\n", want: []string{"2 " + onlyJS}},
		"[default] before [profile default] with a block":   {config: "[default]\na = 1\n[profile default]\ns3 =\n  a = b\n"},
		"[DEFAULT] in the credentials file":                 {credentials: "[DEFAULT]\nmax_attempts = 5\n[default]\na = 1\n", want: []string{"1 " + python}},
		"quoted name with a blank":                          {config: "[profile 'my team']\nmax_attempts = 5\n", want: []string{"1 " + onlyGo, "2 " + onlyJS}},
		"name with a parenthesis":                           {config: "[profile dev(eu)]\nmax_attempts = 5\n", want: []string{"2 " + onlyJS}},
		"name of all that is allowed":                       {config: "[profile a-b@c+d.e%f:g/h_]\n", credentials: "[a-b@c+d.e%f:g/h_]\n"},
		"name of two words, one with an accent":             {credentials: "[équipe bleue]\n[bleue équipe]\n"},
		"name of two words, one in quotes":                  {credentials: "[my 'team']\nmax_attempts = 5\n", want: []string{"2 " + onlyJS}},
		"name with a no-break space":                        {credentials: "[my\u00a0team]\nmax_attempts = 5\n", want: []string{"2 " + onlyJS}},
		"name with a tab":                                   {credentials: "[my\tteam]\nmax_attempts = 5\n", want: []string{"1 " + onlyGo, "2 " + onlyJS}},
		"name with two blanks in a row":                     {credentials: "[my  team]\nmax_attempts = 5\n", want: []string{"1 " + onlyGo}},
		"two blanks before a name":                          {config: "[profile  dev]\nmax_attempts = 5\n", want: []string{"2 " + onlyJS}},
		"tab before a name":                                 {config: "[profile\tdev]\n"},
		"blank before the bracket":                          {config: "[default ]\nmax_attempts = 5\n", want: []string{"1 " + python, "2 " + onlyJS}},
		"header below a header":                             {config: "[default]\n  [profile dev]\n"},
		"header as deep as a property":                      {config: "[default]\n  a = 1\n  [profile dev]\n"},
		"header below a malformed one":                      {config: "[default]\na = 1\n[\n  [profile dev]\nmax_attempts = 5\n", want: []string{"3 " + python}},
		"header [profile.x]":                                {config: "[profile.dev]\nmax_attempts = 5\n", want: []string{"1 " + onlyJS}},
		"header [profiles x]":                               {config: "[profiles dev]\n", want: []string{"1 " + python}},
		"header [__proto__]":                                {config: "[profile __proto__]\nmax_attempts = 5\n", credentials: "[__proto__]\nmax_attempts = 5\n", want: []string{"2 " + onlyJS}},
		// Malformed headers.
		"';' in a name":                           {config: "[default]\na = 1\n[profile a;b]\nmax_attempts = 5\n", want: []string{"3 " + python, "4 " + onlyGo}},
		"';' in a name, in credentials":           {credentials: "[a;b]\nmax_attempts = 5\n", want: []string{"1 " + python + " " + onlyJS}},
		"'#' behind a blank, in the brackets":     {credentials: "[x]\n[a #b]\nmax_attempts = 5\n", want: []string{"2 " + python, "3 " + onlyGo + " " + onlyJS}},
		"no bracket at the end":                   {config: "[default]\n[profile a\nmax_attempts = 5\n", want: []string{"2 " + python, "3 " + onlyGo + " " + onlyJS}},
		"no bracket at the end, below []":         {credentials: "[]\n[a\nmax_attempts = 5\n", want: []string{"1 " + python}},
		"malformed header below a property":       {config: "[default]\na = 1\n  [b\nmax_attempts = 5\n", want: []string{"4 " + all}},
		"header with a comment that is not UTF-8": {config: "[profile a] # caf\xe9\nmax_attempts = 5\n", want: []string{"1 " + python}},
		"header that is not UTF-8":                {config: "[default]\n[profile \xff]\nmax_attempts = 5\n", want: []string{"2 " + onlyGo + " " + python}},
		"one quote behind a header":               {config: "[default] a = '\n", want: []string{"1 " + onlyGo}},
		// Other malformed lines.
		"no sign twice":                             {config: "[default]\nx\ny\n", want: []string{"2 " + python}},
		"no key":                                    {config: "[default]\n= 5\n", want: []string{"2 " + python}},
		"no sign in a block":                        {config: "[default]\ns3 =\n  x\n", want: []string{"3 " + python}},
		"no key in a block":                         {config: "[default]\ns3 =\n  = x\n"},
		"no key before a colon":                     {config: "[default]\ns3 =\n  : x\n", want: []string{"3 " + python}},
		"before the first section":                  {config: "a = 1\n[default]\n", want: []string{"1 " + python}},
		"the same in a continuation":                {config: "[default]\na = 1\n  \xff\n", want: []string{"3 " + python}},
		"setting with a comment that is not UTF-8":  {config: "[default]\ns3 =\nmax_attempts = 5 # f\xfcnf\n", want: []string{"3 " + python}},
		"the same behind a colon":                   {config: "[default]\nretry_mode: adaptive # \xfc\n", want: []string{"2 " + python + " " + onlyJS}},
		"the same in a block":                       {config: "[default]\ns3 =\n  max_attempts = \xff\n", want: []string{"3 " + python}},
		"no sign below a setting that is as deep":   {config: "[default]\n  max_attempts = 5\n  x\n  y\n", want: []string{"2 " + onlyGo, "3 " + python}},
		"no sign below a line that is skipped":      {config: "[default]\nretry_mode = adaptive\nx\n  y\n", want: []string{"2 " + onlyGo, "3 " + python}},
		"no sign below a property behind a setting": {config: "[default]\n  max_attempts = 5\n  a = 1\n  x\n", want: []string{"4 " + python}},
		// Other whitespace than spaces and tabs.
		"no-break space, less than the indentation": {config: "[default]\n  a = 1\n\u00a0max_attempts = 5\n"},
		"no-break space behind a group":             {config: "[default]\ns3 =\n  a = b\n\u00a0max_attempts = 5\n", want: []string{"4 " + python + " " + onlyJS}},
		"a line less deep than no-break spaces":     {config: "[default]\n\u00a0\u00a0region = x\n  max_attempts = 5\n"},
		"all lines behind a no-break space":         {config: "\u00a0[profile a]\n\u00a0max_attempts = 5\n\u00a0[default]\n\u00a0retry_mode = standard\n"},
		"no-break space before the name":            {config: "[profile \u00a0dev]\nmax_attempts = 5\n", want: []string{"2 " + onlyJS}},
		"byte-order mark before a setting":          {config: "[default]\n\ufeffmax_attempts = 5\n", want: []string{"2 " + onlyJS}},
		"byte-order mark behind a key":              {config: "[default]\nmax_attempts\ufeff = 5\n", want: []string{"2 " + onlyJS}},
		"byte-order mark behind a group":            {config: "[default]\ns3 =\n\ufeffmax_attempts = 5\n"},
		"byte-order mark below a value":             {config: "[default]\na = 1\n  \ufeffmax_attempts = 5\n", want: []string{"3 " + onlyJS}},
		"byte-order mark behind a value":            {config: "[default]\nmax_attempts = 5\ufeff\n", want: []string{"2 " + onlyJS}},
		"byte-order mark before a header":           {config: "[default]\na = 1\n\ufeff[profile dev]\nmax_attempts = 5\n", want: []string{"3 " + python + " " + onlyJS}},
		"byte-order mark behind a header":           {config: "[default]\na = 1\n[profile dev]\ufeff\nmax_attempts = 5\n", want: []string{"3 " + python + " " + onlyJS, "4 " + onlyGo}},
		// Files.
		"mark of UTF-16 before ASCII":      {config: "\xff\xfe[default]\n[profile dev]\nmax_attempts = 6\n", want: []string{"1 " + python}},
		"byte-order mark before a comment": {credentials: "\uFEFF# c\n[default]\n", want: []string{"1 " + python}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := lint.Files(shared([]byte(c.config), []byte(c.credentials), nil), false)
			require.NoError(t, err)
			if c.want == nil {
				c.want = []string{}
			}
			require.Equal(t, c.want, places(found), "%v", found)
		})
	}
}

func TestLintGivesAReasonForEachTool(t *testing.T) {
	t.Parallel()
	found, err := lint.Files(shared([]byte("[default]\nregion = secret-1\nMAX_ATTEMPTS: 010 # secret-2\nregion = secret-3\n"), nil, nil), false)
	require.NoError(t, err)
	require.Equal(t, []string{
		"/config:3: warning: aws-sdk-go-v2: the value is 8 (write a whole number from 1 in plain digits); " +
			"js: max_attempts is not taken from here, as the line is skipped (write key = value in the first column) [read-differently]",
		"/config:4: warning: botocore, aws-cli: the file is refused: the key stands twice in its section (delete one) [read-differently]",
	}, lines(readDifferently(found)))
}

func TestResolveNamesToolsForTheProfileInUseOnly(t *testing.T) {
	t.Parallel()
	const file = "\uFEFF[profile dev]\nmax_attempts = 010\nnote = a\nnote = b\n[default]\nmax_attempts: 5\n# \xfc\n"
	for _, c := range []struct {
		file, profile string
		want          []string
	}{
		{file, "default", []string{"6 " + onlyJS, "7 " + python}},
		{file, "dev", []string{"1 " + onlyGo, "7 " + python}},
		// For a tool the next section belongs to the profile.
		{"[profile a]\n[profile b]#c\nmax_attempts = 5\n[profile c]#c\nmax_attempts = 6\n", "a", []string{"5 " + onlyJS}},
		// For a tool the keys of another section count in every profile.
		{"[default]\n[DEFAULT]\nmax_attempts = 5\nregion = a\nretry_mode = adaptive\n", "", []string{"3 " + python, "5 " + python}},
	} {
		settings, err := lint.Resolve(config.Query{Sources: world.As(shared([]byte(c.file), nil, nil), c.profile)})
		require.NoError(t, err)
		require.Equal(t, c.want, places(settings.Diagnostics))
	}
}

// toolSources returns sources of the files of a case.
func toolSources(f vectors.ToolFiles) config.Sources {
	return shared(f.Config.Data(), f.Credentials.Data(), f.Env)
}

// given returns the value of a setting, or nil if the built-in default counts.
func given[T any](s config.Setting[T], text func(T) string) *string {
	if s.Origin.Kind == "default" {
		return nil
	}
	return new(text(s.Value))
}

func modeText(m config.Mode) string { return string(m) }

// readAs returns MODE/ATTEMPTS, with - for a setting that is unset.
func readAs(s *config.Settings) string {
	parts := []string{"-", "-"}
	for i, p := range []*string{given(s.RetryMode, modeText), given(s.MaxAttempts, strconv.Itoa)} {
		if p != nil {
			parts[i] = *p
		}
	}
	return strings.Join(parts, "/")
}

func TestLintNamesEveryToolThatReadsAFileDifferently(t *testing.T) {
	t.Parallel()
	names := map[string]string{"go": "aws-sdk-go-v2", "boto": "botocore", "cli2": "aws-cli", "js": "js"}
	otherReasons := map[string]string{
		"source_profile with retry settings": "aws-sdk-go-v2 misses the credentials of the other profile",
		"[DEFAULT]":                          "aws-sdk-go-v2 finds a profile of that name",
	}
	for source, file := range vectors.Load[vectors.ToolsTable](t, "tools-table.json") {
		for _, c := range file.Cases {
			t.Run(source+"/"+c.Title, func(t *testing.T) {
				t.Parallel()
				found, err := lint.Files(toolSources(c.ToolFiles), false)
				require.NoError(t, err)
				settings, err := lint.Resolve(config.Query{Sources: toolSources(c.ToolFiles)})
				if err != nil || otherReasons[c.Title] != "" {
					return
				}
				differ, named := []string{}, []string{}
				for tool, read := range c.ReadAs {
					if read != readAs(settings.Settings) {
						differ = append(differ, names[tool])
					}
				}
				for _, d := range readDifferently(found) {
					named = append(named, d.Tools...)
				}
				// A malformed line, and a value that a variable overrides, are reported for all profiles.
				if source == "own" && !hasCode(found, "malformed-line") && !hasCode(found, "invalid-value") {
					require.ElementsMatch(t, differ, named, "%v", found)
				}
				require.Subset(t, named, differ, "%v", found)
			})
		}
	}
}

func hasCode(found []lint.Diagnostic, code string) bool {
	return slices.ContainsFunc(found, func(d lint.Diagnostic) bool { return d.Code == code })
}
