package awsretry_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"testing/fstest"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// variables is an environment.
type variables map[string]string

func (v variables) lookup(name string) (string, bool) {
	value, ok := v[name]
	return value, ok
}

func ExampleResolve() {
	files := fstest.MapFS{"aws/config": {Data: []byte("[profile x]\nretry_mode = adaptive\nmax_attempts = 7\n")}}
	environment := map[string]string{"AWS_PROFILE": "x", "AWS_MAX_ATTEMPTS": "4", "AWS_CONFIG_FILE": "/aws/config"}

	settings, err := awsretry.Resolve(context.Background(),
		awsretry.WithSources(awsretry.Sources{FS: files, LookupEnv: func(name string) (string, bool) {
			value, ok := environment[name]
			return value, ok
		}}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(settings.RetryMode.Value, "from", settings.RetryMode.Origin)
	fmt.Println(settings.MaxAttempts.Value, "from", settings.MaxAttempts.Origin)
	for _, loser := range settings.MaxAttempts.Overridden {
		fmt.Println("  beats", loser.Raw, "from", loser.Origin)
	}
	// Output:
	// adaptive from /aws/config:2: [profile x] retry_mode
	// 4 from AWS_MAX_ATTEMPTS
	//   beats 7 from /aws/config:3: [profile x] max_attempts
}

// AWS tools had the behavior v2.0 before November 2026.
func ExampleWithStandard() {
	for _, behavior := range []retry.Behavior{retry.V20, retry.V21} {
		strategy, err := awsretry.Load(context.Background(),
			awsretry.WithStandard(standard.Config{Behavior: behavior}),
			awsretry.WithSources(awsretry.Sources{LookupEnv: variables{}.lookup, FS: fstest.MapFS{}}))
		if err != nil {
			log.Fatal(err)
		}
		plan := strategy.Plan(retry.Operation{Service: "dynamodb"})
		fmt.Println(behavior, plan.MaxAttempts, plan.Base, plan.RetryCost, plan.TimeoutCost, plan.ThrottlingCost)
	}
	// Output:
	// v2.0 3 1s 5 10 5
	// v2.1 4 25ms 14 14 5
}

// program is the configuration of a program.
type program struct {
	Listen string          `json:"listen" yaml:"listen"`
	AWS    awsretry.Values `json:"aws" yaml:"aws"`
}

// read reads the configuration from the arguments and from the text of the file that one of
// them names.
func (p *program) read(arguments []string, files map[string]string) error {
	flags := flag.NewFlagSet("program", flag.ContinueOnError)
	file := flags.String("config", "app.json", "configuration file")
	p.AWS.AddFlags(flags, "aws-")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(files[*file]), p); err != nil {
		return err
	}
	p.AWS.From("file " + *file)
	return nil
}

// A program takes retry settings from its own file and flags, and says where each value comes
// from.
func ExampleWithValues() {
	var p program
	if err := p.read(
		[]string{"-aws-max-attempts=5", "-aws-max-elapsed=30s"},
		map[string]string{"app.json": `{"listen": ":8080", "aws": {"retry_mode": "adaptive", "max_attempts": 8, "min_delay": "300ms"}}`},
	); err != nil {
		log.Fatal(err)
	}

	settings, err := awsretry.Resolve(context.Background(),
		awsretry.WithValues(p.AWS),
		awsretry.WithSources(awsretry.Sources{
			ConfigFile:      "/aws/config",
			CredentialsFile: "/aws/credentials",
			LookupEnv:       variables{"AWS_MAX_ATTEMPTS": "4"}.lookup,
			FS:              fstest.MapFS{},
		}))
	if err != nil {
		log.Fatal(err)
	}
	strategy, err := awsretry.New(settings)
	if err != nil {
		log.Fatal(err)
	}
	if err := settings.Explain(os.Stdout, strategy.Plan(retry.Operation{})); err != nil {
		log.Fatal(err)
	}
	// Output:
	// profile       * default   built-in default
	// retry_mode    * adaptive  file app.json
	// max_attempts  * 5         flag --aws-max-attempts
	//                 8         file app.json
	//                 4         AWS_MAX_ATTEMPTS
	// min_delay     * 300ms     file app.json
	// max_elapsed   * 30s       flag --aws-max-elapsed
	// behavior      * v2.1      built-in default
	//
	// Files
	//   config       /aws/config       missing
	//   credentials  /aws/credentials  missing
	//
	// What happens
	//   attempts       5: the first and up to 4 retries
	//   elapsed limit  no attempt begins more than 30s after the operation began
	//   retry quota    500 tokens for each scope; a retry takes 14, after a timeout 14, after a throttle 5
	//   drain point    the quota starts to empty when 21.1 % of attempts fail, or 31.0 % are throttled
	//   empty quota    lends a retry to what was in flight when a connection was lost
	//   backoff        up to 50ms before the first retry, 1s after a throttle; doubling with each retry up to 20s, and at least 300ms
	//   worst case     15s of backoff in one operation, without server hints
	//   first attempt  waits for the scope's send rate once the service has throttled
}

// The error names the place, the setting and the value.
func ExampleValues_From() {
	var p program
	if err := p.read(nil, map[string]string{"app.json": `{"aws": {"max_attempts": 0}}`}); err != nil {
		log.Fatal(err)
	}
	_, err := awsretry.Load(context.Background(), awsretry.WithValues(p.AWS))
	fmt.Println(err)
	// Output:
	// config: file app.json: max_attempts: "0": must be a decimal integer from 1 to 2147483647
}

// The flags are those of the package flag.
func ExampleValues_AddFlags() {
	var values awsretry.Values
	flags := flag.NewFlagSet("program", flag.ContinueOnError)
	flags.SetOutput(os.Stdout)
	values.AddFlags(flags, "aws-")
	flags.PrintDefaults()
	// Output:
	// -aws-max-attempts number
	//     	number of attempts of an operation, the first included
	//   -aws-max-backoff duration
	//     	longest duration of the backoff before a retry, such as 20s
	//   -aws-max-elapsed duration
	//     	duration after which an operation begins no further attempt, such as 1m30s
	//   -aws-min-delay duration
	//     	shortest duration of the backoff before a retry, such as 300ms
	//   -aws-retry-mode mode
	//     	retry mode: standard or adaptive
}
