package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestChanges(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"x = a + 1":                        {"gone: x = a + 1=>", "+ -> -=>x = a - 1", "1 -> 1+1=>x = a + (1+1)"},
		"x += a":                           {"+= -> -==>x -= a", "gone: x += a=>"},
		"if a <= b {\n}":                   {"negated: a <= b=>if !(a <= b) {\n}", "<= -> <=>if a < b {\n}"},
		"if a == b {\n}":                   {"== -> !==>if a != b {\n}"},
		"switch {\ncase f(a):\n}":          {"negated: f(a)=>switch {\ncase !(f(a)):\n}"},
		"switch a {\ncase b:\nc++\n}":      {"gone: c++=>switch a {\ncase b:\n\n}"},
		"for x++; ; x++ {\n}":              nil,
		"select {\ncase <-c:\nf(\n1.5)\n}": {"gone: f( 1.5)=>select {\ncase <-c:\n\n}", "1.5 -> 1.5+1=>select {\ncase <-c:\nf(\n(1.5+1))\n}"},
		"select {\ncase c <- a:\n}":        nil,
		"defer f(true)":                    {"gone: defer f(true)=>", "true negated=>defer f(!true)"},
		"_ = a":                            nil,
		"return a, f(b)":                   {"nil for f(b)=>return a, nil"},
		"return g()":                       nil,
		"return a, nil":                    nil,
		"go func() { return a, b }()":      {"gone: go func() { return a, b }()=>"},
		"type t [5]int":                    nil,
	} {
		const before, after = "package p\n\nimport \"1\"\n\nfunc F() (int, error) {\n", "\n}\n"
		found, err := changes("p.go", "p", []byte(before+text+after))
		require.NoError(t, err)
		var got []string
		for _, c := range found {
			changed := before + text + after
			changed = changed[:c.start] + c.text + changed[c.end:]
			kind := strings.SplitN(c.name, ": ", 2)[1]
			got = append(got, kind+"=>"+strings.TrimSuffix(strings.TrimPrefix(changed, before), after))
		}
		require.ElementsMatch(t, want, got, text)
	}
	_, err := changes("p.go", "p", []byte("package"))
	require.ErrorContains(t, err, "p.go:1:8")
}
