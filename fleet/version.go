package fleet

import (
	"fmt"
	"hash/fnv"
)

// version returns the first part of each key: the version of the rules and of the state, and a
// digest of the parameters. Members with other rules have other keys, and so another send rate,
// because two sets of rules that steer one rate would undo each other.
func version() string {
	return fmt.Sprintf("f2-%08x", digest(
		soldAhead, runShare,
		keptAfterCut, heavyShare, leastKept, lostSlots, fewestAnswers, fewAnswers, settle, counting,
		backSlots, shortestBack, longestBack, beyond, beyondPart, marginTime, marginAnswers,
		perAnswer, perAnswerAgain, heardShare, floorShare, leastAnswers, freeTime, climbFrom,
		usedPart, useSmooth, learnFor, learnEvery, darkShare, unlimitedAfter,
		denser, latestAgain, leastRate, openAfter,
	))
}

func digest(parameters ...float64) uint32 {
	h := fnv.New32a()
	fmt.Fprint(h, parameters)
	return h.Sum32()
}
