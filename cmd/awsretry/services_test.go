package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/serviceid"
)

// go test ./cmd/awsretry -run ServicesOfTheModels -models DIR writes the ids of all services from
// the models in DIR, the directory of an installed botocore package.
var models = flag.String("models", "", "write the ids of services from the botocore package in this directory")

func TestServicesOfTheModels(t *testing.T) {
	t.Parallel()
	if *models != "" {
		require.NoError(t, os.WriteFile("../../internal/serviceid/services.txt", modelsText(t, *models), 0o600))
		return
	}
	ids := serviceid.All()
	require.Len(t, ids, 424)
	require.True(t, slices.IsSorted(ids))
	for _, id := range ids {
		for _, name := range []string{id, strings.ToLower(strings.ReplaceAll(id, " ", "-"))} {
			var errs bytes.Buffer
			(&call{system: system{errs: &errs}, service: name}).checkService()
			require.Empty(t, errs.String())
		}
	}
}

func modelsText(t *testing.T, dir string) []byte {
	t.Helper()
	init, err := os.ReadFile(filepath.Join(dir, "__init__.py"))
	require.NoError(t, err)
	version := regexp.MustCompile(`(?m)^__version__ = '(.+)'`).FindSubmatch(init)
	require.NotNil(t, version, "no version in __init__.py")
	paths, err := filepath.Glob(filepath.Join(dir, "data", "*", "*", "service-2.json*"))
	require.NoError(t, err)
	ids := []string{}
	for _, path := range paths {
		var model struct{ Metadata struct{ ServiceID string } }
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		if strings.HasSuffix(path, ".gz") {
			unzipped, err := gzip.NewReader(bytes.NewReader(text))
			require.NoError(t, err)
			require.NoError(t, json.NewDecoder(unzipped).Decode(&model))
		} else {
			require.NoError(t, json.Unmarshal(text, &model))
		}
		ids = append(ids, model.Metadata.ServiceID)
	}
	slices.Sort(ids)
	return []byte("# botocore " + string(version[1]) + "\n" + strings.Join(slices.Compact(ids), "\n") + "\n")
}

func TestUnknownServiceIsAWarning(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"explain --service dynamdb":                             `explain: warning: --service "dynamdb" is the id of no service that this version knows; did you mean "DynamoDB"`,
		"lint --service s4":                                     `lint: warning: --service "s4" is the id of no service that this version knows; did you mean "S3"`,
		"profiles --service zzzzzzzzzzz":                        `profiles: warning: --service "zzzzzzzzzzz" is the id of no service that this version knows`,
		"classify --service ds-data --status 500":               `classify: warning: --service "ds-data" is the id of no service that this version knows`,
		"simulate --service auto_scalling --seed 1 --offered 1": `simulate: warning: --service "auto_scalling" is the id of no service that this version knows; did you mean "Auto Scaling"`,
		"explain --service dynamodb":                            "",
		"explain --service DynamoDB-Streams":                    "",
		"classify --service autoscaling --status 500":           "",
		"explain --service=":                                    "",
	} {
		_, errs, _ := invoke(t, world(nil, nil), strings.Fields(args)...)
		first, _, _ := strings.Cut(errs, "\n")
		if want == "" {
			require.Empty(t, first, args)
			continue
		}
		require.True(t, strings.HasPrefix(first, "awsretry "+want), "%s: %s", args, first)
	}
}
