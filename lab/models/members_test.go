package models

import (
	"bytes"
	"fmt"
	"go/format"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// member is a member of outputs or of an error that looks like a code, a reason or a count of failures, and what it means:
//
//	entries        a code of entries, which package awssdk reads, or the entries that are left undone by throttles
//	canceled       the same of an error, which throttles may have caused
//	reasons        a word of a throttle about itself, which package awssdk reads
//	count          it counts entries whose codes are read
//	state          it tells of a job or a resource that outlives the call, or of a part of the input that is bad
//	undocumented   neither model nor pages say that one of its codes means a throttle, and so it is not read
type member struct {
	service    string
	operations string // with spaces in between, or those of errors
	path       string // names of members with dots in between, "error." in front of those of an error
	means      string
	entries    string // the member of the input that has the entries
	codes      string // of its enum, or of the API Reference, that look like throttles or faults of the service
}

var (
	codeMember  = regexp.MustCompile(`(?i)(code|reason|status|error_?type|error)$`)
	failureWord = regexp.MustCompile(`(?i)fail|error|unprocess|unsuccess|reject|throttl|exception`)
	countMember = regexp.MustCompile(`(?i)(fail|error|unprocess|reject|throttl).*(count|number)$|^(count|number).*(fail|error|throttl)`)
	undone      = regexp.MustCompile(`(?i)^unprocess`)
	// tells finds operations that tell of states, and do nothing to entries.
	tells = regexp.MustCompile(`^(Get|List|Describe|Search|Head|Query|Scan|Lookup|Select|Filter|Poll|Preview|View|Retrieve|Read)`)
)

// membersOf returns the members of a model. What is known of them stays.
func (m *model) membersOf(known []member) []member {
	found := map[string]member{} // by path and input
	add := func(operation, input, path, shapeName string) {
		var codes []string
		for _, code := range m.Shapes[shapeName].Enum {
			if byName(code) != "" || isThrottleCode(code) || faultName.MatchString(code) {
				codes = append(codes, code)
			}
		}
		one := member{m.Metadata.ServiceID, operation, path, "?", m.entriesOf(input), strings.Join(codes, " ")}
		for _, k := range known {
			if k.service == one.service && k.path == path && slices.Contains(strings.Fields(k.operations), operation) {
				one.means, one.entries = k.means, k.entries
				if len(codes) == 0 {
					one.codes = k.codes
				}
			}
		}
		key := one.path + " " + one.entries + " " + one.means
		if before, ok := found[key]; ok {
			one.operations = before.operations + " " + operation
		}
		found[key] = one
	}
	for _, name := range slices.Sorted(maps.Keys(m.Operations)) {
		if operation := m.Operations[name]; operation.Output != nil && !tells.MatchString(name) {
			input := ""
			if operation.Input != nil {
				input = operation.Input.Shape
			}
			m.walk(operation.Output.Shape, nil, nil, func(path, shapeName string) { add(name, input, path, shapeName) })
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Shapes)) {
		if s := m.Shapes[name]; s.failed() {
			m.walk(name, []string{"error"}, nil, func(path, shapeName string) { add(name, "", path, shapeName) })
		}
	}
	return slices.Collect(maps.Values(found))
}

// walk calls found for the members of a shape that look like codes, reasons or counts.
func (m *model) walk(name string, path, above []string, found func(path, shapeName string)) {
	s := m.Shapes[name]
	inList := slices.Contains(path, "[]")
	switch {
	case s.Type == "list":
		m.walk(s.Member.Shape, append(slices.Clone(path), "[]"), above, found)
	case s.Type == "map":
		m.walk(s.Value.Shape, append(slices.Clone(path), "[]"), above, found)
	case s.Type == "structure" && !slices.Contains(above, name) && len(above) < 7:
		for _, key := range slices.Sorted(maps.Keys(s.Members)) {
			inner := s.Members[key].Shape
			to := m.Shapes[inner]
			here := append(slices.Clone(path), key)
			text := strings.Join(slices.DeleteFunc(slices.Clone(here), func(p string) bool { return p == "[]" }), ".")
			of := path != nil && path[0] == "error" || failureWord.MatchString(text+name)
			switch {
			case to.Type == "string" && slices.ContainsFunc(to.Enum, func(code string) bool { return byName(code) != "" }),
				to.Type == "string" && len(to.Enum) == 0 && inList && of && codeMember.MatchString(key),
				(to.Type == "integer" || to.Type == "long") && countMember.MatchString(key),
				(to.Type == "list" || to.Type == "map") && undone.MatchString(key):
				found(text, inner)
			}
			m.walk(inner, here, append(slices.Clone(above), name), found)
		}
	}
}

// entriesOf returns the member of an input that has the entries: its first list or map, or that inside of a structure.
func (m *model) entriesOf(input string) string {
	inner := ""
	for _, key := range slices.Sorted(maps.Keys(m.Shapes[input].Members)) {
		switch name := m.Shapes[input].Members[key].Shape; m.Shapes[name].Type {
		case "list", "map":
			return key
		case "structure":
			for _, below := range slices.Sorted(maps.Keys(m.Shapes[name].Members)) {
				if m.Shapes[m.Shapes[name].Members[below].Shape].Type == "list" && inner == "" {
					inner = key + "." + below
				}
			}
		}
	}
	return inner
}

// batchText is the table of internal/wire. Its names are those of Go.
func batchText(t *testing.T) []byte {
	t.Helper()
	all := members(t)
	// These have the error that is read in place of an output.
	all = append(all, member{"DynamoDB", "TransactGetItems TransactWriteItems", "", "entries", "TransactItems", ""},
		member{"DynamoDB", "ExecuteTransaction", "", "entries", "TransactStatements", ""})
	services := map[string]map[string][]string{} // operations by row
	for _, m := range all {
		if m.means != "entries" {
			continue
		}
		results, code, _ := strings.Cut(inGo(m.path), ".")
		row := fmt.Sprintf("Batch{Results: %q, Code: %q, Entries: %q}", results, code, inGo(m.entries))
		if services[m.service] == nil {
			services[m.service] = map[string][]string{}
		}
		for operation := range strings.FieldsSeq(m.operations) {
			services[m.service][row] = append(services[m.service][row], fmt.Sprintf("%q", operation))
		}
	}
	var text bytes.Buffer
	text.WriteString("// Code generated by lab/models; DO NOT EDIT.\n\npackage wire\n\n" +
		"// BatchIn returns where an operation has its entries; the zero Batch if it is none whose entries are read.\n" +
		"func BatchIn(service, operation string) Batch {\n\tswitch service {\n")
	for _, service := range slices.Sorted(maps.Keys(services)) {
		fmt.Fprintf(&text, "case %q:\nswitch operation {\n", service)
		for _, row := range slices.Sorted(maps.Keys(services[service])) {
			slices.Sort(services[service][row])
			fmt.Fprintf(&text, "case %s:\nreturn %s\n", strings.Join(services[service][row], ",\n"), row)
		}
		text.WriteString("}\n")
	}
	text.WriteString("}\nreturn Batch{}\n}\n\n// CanceledIn returns where an error that throttles may have caused has the codes of its causes; \"\" for any other " +
		"error.\nfunc CanceledIn(code string) string {\nswitch code {\n")
	for _, m := range all {
		if m.means == "canceled" {
			fmt.Fprintf(&text, "case %q:\nreturn %q\n", m.operations, strings.TrimPrefix(inGo(m.path), "Error."))
		}
	}
	text.WriteString("}\nreturn \"\"\n}\n")
	formatted, err := format.Source(regexp.MustCompile(`(Results|Code): "", `).ReplaceAll(text.Bytes(), nil))
	require.NoError(t, err)
	return formatted
}

// inGo returns a path as Go has its names.
func inGo(path string) string {
	names := strings.Split(path, ".")
	for i, name := range names {
		if name != "" {
			names[i] = strings.ToUpper(name[:1]) + name[1:]
		}
	}
	return strings.Join(names, ".")
}
