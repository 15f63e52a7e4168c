package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/awsretry/awsretry/internal/serviceid"
	"github.com/awsretry/awsretry/internal/words"
)

// plainService returns the id of a service in lower case, without spaces, dashes and underscores.
func plainService(id string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if strings.ContainsRune(" -_", r) {
			return -1
		}
		return r
	}, id))
}

// serviceNames returns the ids as they are usually given to the flag, for completion.
func serviceNames() (names []string) {
	for _, id := range serviceid.All() {
		names = append(names, strings.ReplaceAll(strings.ToLower(id), " ", "-"))
	}
	return names
}

// checkService warns of an unknown service, which is usually misspelt. It would get the common
// defaults without notice.
func (c *call) checkService() {
	want := plainService(c.service)
	names, ids := words.Near(want), map[string]string{"": ""}
	for _, id := range serviceid.All() {
		ids[plainService(id)] = id
		names.Add(plainService(id))
	}
	if _, known := ids[want]; known {
		return
	}
	var meant []string
	for _, name := range names.Best() {
		meant = append(meant, strconv.Quote(ids[name]))
	}
	ask := ""
	if len(meant) > 0 {
		ask = "; did you mean " + strings.Join(meant, " or ")
	}
	fmt.Fprintf(c.errs, "awsretry %s: warning: --service %q is the id of no service that this version knows%s\n", c.name, c.service, ask)
}
