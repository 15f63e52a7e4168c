package config

import (
	"cmp"
	"slices"
)

const (
	maxNear       = 5        // How many names an error suggests at most.
	maxNearLength = maxShown // Names with more bytes are not compared.
)

// near collects the names that are most like want. Such names differ from it only in case,
// or in at most a third of its bytes.
type near struct {
	want, lower string
	found       []match // The best first.
}

type match struct {
	name     string
	distance int
}

func nearTo(want string) *near { return &near{want: want, lower: asciiLower(want)} }

func (n *near) add(name []byte) {
	limit := max(1, len(n.want)/3)
	if len(n.want) > maxNearLength || len(name) > maxNearLength {
		return
	}
	d := distance(n.lower, asciiLower(string(name)), limit)
	if d > limit {
		return
	}
	m := match{string(name), d}
	at, known := slices.BinarySearchFunc(n.found, m, func(a, b match) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.name, b.name))
	})
	if !known {
		n.found = slices.Insert(n.found, at, m)
		n.found = n.found[:min(len(n.found), maxNear)]
	}
}

// names returns the nearest names, the best first.
func (n *near) names() []string {
	var names []string
	for _, m := range n.found {
		names = append(names, m.name)
	}
	return names
}

// lookalike returns the retry setting that a key was probably meant to be. It returns "" for a
// key that is a retry setting, and for one that is not like one. It compares only letters
// and digits, in lower case and without a leading "aws".
func lookalike(key []byte) string {
	var plain [40]byte
	n := 0
	for _, c := range key {
		c = lowerByte(c)
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			continue
		}
		if n == len(plain) {
			return ""
		}
		plain[n] = c
		n++
	}
	word := string(plain[:n])
	if n > 3 && word[:3] == "aws" {
		word = word[3:]
	}
	if retryKey(key) != "" {
		return ""
	}
	switch word {
	case "retries", "maxretries", "maxretry", "maxerrorretry", "retryattempts", "attempts":
		return keyMaxAttempts
	}
	switch {
	case distance(word, "retrymode", 2) <= 2:
		return keyRetryMode
	case distance(word, "maxattempts", 2) <= 2:
		return keyMaxAttempts
	}
	return ""
}

// distance returns the Levenshtein distance of two texts in bytes, or limit+1 if that is
// larger than limit.
func distance(a, b string, limit int) int {
	if len(b) > maxNearLength || max(len(a)-len(b), len(b)-len(a)) > limit {
		return limit + 1
	}
	var row [maxNearLength + 1]int
	for j := range len(b) + 1 {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return min(row[len(b)], limit+1)
}
