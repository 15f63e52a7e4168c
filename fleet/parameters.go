package fleet

import "time"

// The parameters of [Step]. redisstore has the same in its script. Times are in seconds. Each was
// chosen in simulations with limits of 5 to 5,000 requests a second, 2 to 1,000 members, and stores
// at 1 ms and 50 ms. Each comment gives the results of other values; R is the limit.
const (
	// soldAhead is how far in advance slots are sold. 0.25: two thirds more calls of the store,
	// and 0.64 R where a run is shorter than the round trip. 1: up to 5.3 % throttled.
	soldAhead = 0.5
	// runShare is the share of the free slots that one run may take. 0.03: 0.08 R with few members
	// and a store at 50 ms. 0.3: up to 3.9 % throttled.
	runShare = 0.1

	// keptAfterCut is the share of the rate that remains after a cut. 0.95: more is throttled at
	// low limits.
	keptAfterCut = 0.9
	// heavyShare is the share of throttled answers above which the rate falls to what was served,
	// and leastKept the lowest share it keeps. Without it, 9.9 % instead of 3.1 % are throttled in
	// the minute in which the limit halves.
	heavyShare, leastKept = 0.1, 0.5
	// lostSlots is the ratio of slots sold to slots used.
	lostSlots = 1.07
	// fewestAnswers is how many answers a cut needs, and fewAnswers the minimum for computing the
	// share of throttles: one throttle in two answers says little.
	fewestAnswers, fewAnswers = 4, 6
	// settle is how long after a cut answers do not count, because their slots were sold before it.
	// 0.3: cuts twice. 2: up to 4.8 % throttled.
	settle = 1
	// counting is how long answers are then counted before the next cut. 0: 4.4 % throttled in the
	// minute in which the limit halves. 1: less is served while the limit changes.
	counting = 0.3

	// backSlots is how many slots the rate takes to return to where it was cut, within shortestBack
	// and longestBack.
	backSlots, shortestBack, longestBack = 140, 7, 30
	// beyond is the share by which the rate exceeds the plateau, after beyondPart of the time that
	// it took to return there. 0.15: up to 2.1 % throttled at a limit of 100. 0.1: new capacity
	// takes longer.
	beyond, beyondPart = 0.12, 0.3
	// marginTime and marginAnswers say how many answers above the plateau start a climb, beyond
	// those of one second, which may be a burst that the service had saved.
	marginTime, marginAnswers = 0.3, 4
	// perAnswer is how much each answer raises the rate in a climb, and perAnswerAgain in a climb
	// that was cut before: 0.65 doubles the rate in a second.
	perAnswer, perAnswerAgain = 0.65, 0.1
	// heardShare is the share of an epoch's slots whose answers must be known in a climb. If there
	// are more members than slots per second, they report seconds later, when the rate would be far
	// beyond the limit.
	heardShare = 0.5
	// floorShare is the lowest share of the goal in a collapse. 0.1: slower recovery. 0.5: more
	// throttles if the limit has fallen.
	floorShare = 0.2
	// leastAnswers is how many answers show that the limit is no longer the one before a collapse.
	// They count after those of freeTime at the old rate, some of which are older than the end of
	// the collapse.
	leastAnswers, freeTime = 20, 0.3
	// climbFrom is the ratio of goal to rate from which a climb is worthwhile.
	climbFrom = 1.25
	// usedPart is the share of the rate that must be used for it to grow. 0: 58 % throttled for 10
	// s after a lull. 0.3: 13 %. 0.8: stuck at 0.44 R if runs are shorter than the round trip.
	usedPart = 0.5
	// useSmooth is the time over which use is smoothed.
	useSmooth = 2
	// learnFor is the shortest time that the store learns; the answers of the first second do not
	// count, because some members have not heard of it. learnEvery is how often a member calls
	// meanwhile. Learning restarts while more than darkShare is throttled. 0.5: never ends with 1,000
	// members at a limit of 100. After unlimitedAfter without a throttle the scope is open again.
	learnFor, learnEvery, darkShare, unlimitedAfter = 3, 0.5, 0.9, 60

	// denser is how much denser appointments are than slots: a member whose slot comes before its
	// appointment wastes it. latestAgain is the latest appointment. Without appointments, ten times
	// the calls if there are many more members than slots per second.
	denser, latestAgain = 1.1, 10
	// leastRate is the lowest rate, per second.
	leastRate = 0.05
	// openAfter is how long a scope must be used without a throttle to be open again.
	openAfter = 600
)

// The parameters of a member.
const (
	// lateBy is how late a slot may be used. Older slots are lost, because using them all at once
	// would be a burst. 0.1 s: slower to find new capacity. 1 s: up to 5.3 % throttled.
	lateBy = 500 * time.Millisecond
	// savedFor is how long a slot is kept for attempts that do not wait, after one that found none.
	// Without it, rare attempts of this kind are never served: the slot comes after the attempt and
	// is lost before the next.
	savedFor = 10 * time.Second
	// demandWindow is the time whose used slots a member asks for again. Half of it: a third more
	// calls of the store and no benefit.
	demandWindow = time.Second
	// leadFactor is how many worst round trips before its last slot a member asks for more;
	// leadExtra is added.
	leadFactor, leadExtra = 1.2, 5 * time.Millisecond
	// leastAgain is the shortest time before a member that got no slot asks again, even if the
	// reply says less. Step never says less than a quarter of a second.
	leastAgain = 100 * time.Millisecond
	// seedLasts is how long a member remembers the state of the store.
	seedLasts = 10 * time.Minute
	// longestLook is the longest time of use between two look-ups of an open member. The first is a
	// second, and each is twice the previous one.
	longestLook = 10 * time.Second
	// firstRetry is the time until the next call after the first failure in a row; it is doubled
	// after the second, and longestRetry after each further one. All have jitter of a fifth.
	firstRetry, longestRetry = 500 * time.Millisecond, 2 * time.Second
	// hungryFor is how long attempts must have waited without a break before the member's own rate
	// predicts a wait.
	hungryFor = 2 * time.Second
	// rateWindow is the time over which a member measures its own rate, which it keeps when it
	// loses the store.
	rateWindow = 10 * time.Second

	// aloneCut is the share of its rate that a member without the store keeps after a throttle, and
	// aloneBack the time in which the rate returns linearly.
	aloneCut, aloneBack = 0.7, 10 * time.Second
	// aloneLeast is the rate per second of a member alone that has sent nothing recently.
	aloneLeast = 0.1
	// aloneHold is how long a member holds its rate. Then the rate doubles, again and again.
	aloneHold = 5 * time.Minute
	// othersBack is how long all members take to find the store again: longestRetry with its
	// jitter. Until then a member that has found it asks for no more than it sent alone. Otherwise,
	// 0.6 to 0.9 of the rate in the half minute after an outage, if bursts are short.
	othersBack = longestRetry * 5 / 4
)
