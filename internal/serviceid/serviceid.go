// Package serviceid has the ids of the services of AWS.
package serviceid

import (
	_ "embed" // for the ids
	"strings"
	"sync"
)

// text has the ids of all services that AWS has models of, one a line. The first line is a comment that says where they
// are from.
//
//go:embed services.txt
var text string

// All returns the ids as AWS spells them, such as "DynamoDB" and "Secrets Manager".
func All() []string {
	_, lines, _ := strings.Cut(text, "\n")
	return strings.Split(strings.TrimSuffix(lines, "\n"), "\n")
}

// Spelled returns the id of a service as AWS spells it, and the text itself if it is the id of no service in any case.
func Spelled(service string) string {
	if id, ok := spelled()[strings.ToLower(service)]; ok {
		return id
	}
	return service
}

//nolint:gochecknoglobals // It never changes, and most programs do not need it.
var spelled = sync.OnceValue(func() map[string]string {
	ids := map[string]string{}
	for _, id := range All() {
		ids[strings.ToLower(id)] = id
	}
	return ids
})

// IsDynamoDB reports whether service is DynamoDB or DynamoDB Streams, in the spelling of endpoints,
// clients and models.
func IsDynamoDB(service string) bool {
	const name, streams = "dynamodb", "streams"
	if len(service) < len(name) || service[:len(name)] != name && !strings.EqualFold(service[:len(name)], name) {
		return false
	}
	rest := service[len(name):]
	if rest != "" && strings.ContainsRune("- _", rune(rest[0])) {
		return strings.EqualFold(rest[1:], streams)
	}
	return rest == "" || strings.EqualFold(rest, streams)
}
