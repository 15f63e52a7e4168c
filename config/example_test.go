package config_test

import (
	"errors"
	"fmt"
	"log"
	"testing/fstest"

	"github.com/awsretry/awsretry/config"
)

// sharedFiles returns sources of two files, and of no environment.
func sharedFiles(configFile, credentialsFile string) config.Sources {
	return config.Sources{
		ConfigFile:      "/aws/config",
		CredentialsFile: "/aws/credentials",
		LookupEnv:       func(string) (string, bool) { return "", false },
		FS: fstest.MapFS{
			"aws/config":      {Data: []byte(configFile)},
			"aws/credentials": {Data: []byte(credentialsFile)},
		},
	}
}

// Code sets a mode that is stronger than the files, and a default that is weaker.
func ExampleQuery_Resolve() {
	query := config.Query{Sources: sharedFiles("[profile batch]\nretry_mode = standard\nmax_attempts = 8\n", "")}
	query.Profile = "batch"
	query.Given = []config.Candidate{
		config.Typed(config.Origin{Kind: "option", Name: "WithMode"}, "retry_mode", config.Mode("adaptive")),
		config.Typed(config.Origin{Kind: "default", Name: "WithConfig"}, "max_attempts", 5),
	}
	settings, err := query.Resolve()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(settings.RetryMode.Value, "from", settings.RetryMode.Origin)
	fmt.Println(settings.MaxAttempts.Value, "from", settings.MaxAttempts.Origin)
	for _, loser := range settings.MaxAttempts.Overridden {
		fmt.Println("  beats", loser.Raw, "from", loser.Origin)
	}
	// Output:
	// adaptive from option WithMode
	// 8 from /aws/config:3: [profile batch] max_attempts
	//   beats 5 from option WithConfig
}

func ExampleProfileNotFoundError() {
	query := config.Query{Sources: sharedFiles("[profile production]\n", "")}
	query.Profile = "prodution"
	_, err := query.Resolve()
	if missing, ok := errors.AsType[*config.ProfileNotFoundError](err); ok {
		fmt.Printf("no profile %s from %s, but %s\n", missing.Profile, missing.Origin, missing.Near[0])
	}
	fmt.Println(err)
	// Output:
	// no profile prodution from option WithSources, but production
	// config: option WithSources: profile "prodution" not found in /aws/config or /aws/credentials; did you mean "production"
}

func ExampleValueError() {
	query := config.Query{Sources: sharedFiles("[default]\nretry_mode = fast\n", "")}
	_, err := query.Resolve()
	if invalid, ok := errors.AsType[*config.ValueError](err); ok {
		fmt.Println(invalid.Key, "in line", invalid.Origin.Line, invalid.Err)
	}
	fmt.Println(err)
	// Output:
	// retry_mode in line 2 must be standard or adaptive
	// config: /aws/config:2: [default] retry_mode: "fast": must be standard or adaptive
}
