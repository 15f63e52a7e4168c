package fleet

import "time"

// The parameters of [Step]. redisstore has the same in its script. Times are in seconds. Each
// was chosen in simulations with limits of 5 to 5,000 requests a second, 2 to 1,000 members,
// and stores at 1 ms and 50 ms. What they gave otherwise stands beside it: R is the limit.
const (
	// soldAhead is how far in advance slots are sold. 0.25: two thirds more calls of the store,
	// and 0.64 R where a run is shorter than the round trip. 1: up to 5.3 % throttled.
	soldAhead = 0.5
	// runShare is the part of the free slots that one run may take. 0.03: 0.08 R with few
	// members and a store at 50 ms. 0.3: up to 3.9 % throttled.
	runShare = 0.1

	// keptAfterCut is what a cut leaves of the rate. 0.95: more is throttled at low limits.
	keptAfterCut = 0.9
	// heavyShare is the part of throttled answers above which the rate falls to what was
	// served, and leastKept what it keeps at least. Without it, 9.9 % instead of 3.1 % are
	// throttled in the minute in which the limit halves.
	heavyShare, leastKept = 0.1, 0.5
	// lostSlots is how much more slots are sold than used.
	lostSlots = 1.07
	// fewestAnswers is how many answers a cut takes, and fewAnswers how many the part of
	// throttled ones is computed from at least: one throttle of two answers says little.
	fewestAnswers, fewAnswers = 4, 6
	// settle is how long after a cut no answer counts: the attempts were sold before it. 0.3:
	// cuts twice. 2: up to 4.8 % throttled.
	settle = 1
	// counting is how long answers are counted then before the next cut. 0: 4.4 % throttled in
	// the minute in which the limit halves. 1: less is served while the limit changes.
	counting = 0.3

	// backSlots is after how many slots the rate is back where it was cut, in no less than
	// shortestBack and no more than longestBack.
	backSlots, shortestBack, longestBack = 140, 7, 30
	// beyond is the part by which the rate exceeds the plateau, after beyondPart of the time that
	// it has taken to be back there. 0.15: up to 2.1 % throttled at a limit of 100. 0.1: new
	// capacity takes longer.
	beyond, beyondPart = 0.12, 0.3
	// marginTime and marginAnswers say by how many answers the plateau must be exceeded before
	// a climb, besides those of a second, which may be a burst that the service had saved.
	marginTime, marginAnswers = 0.3, 4
	// perAnswer is how much each answer raises the rate in a climb, and perAnswerAgain where the
	// climb has been cut before: 0.65 doubles the rate in a second.
	perAnswer, perAnswerAgain = 0.65, 0.1
	// heardShare is the part of the slots of an epoch whose answers must be known in a climb.
	// Where members are more than slots in a second, they report seconds later, and the rate
	// would be far beyond the limit by then.
	heardShare = 0.5
	// floorShare is the part of the goal below which a collapse does not go. 0.1: later back. 0.5:
	// more throttled where the limit has fallen.
	floorShare = 0.2
	// leastAnswers is how many answers say that the limit is no longer the one before a collapse.
	// Those of freeTime at the old rate come before them: some of them are older than the end of
	// the collapse.
	leastAnswers, freeTime = 20, 0.3
	// climbFrom is how much higher than the rate a goal is to be worth a climb.
	climbFrom = 1.25
	// usedPart is the part of the rate that must be used for it to grow. 0: 58 % throttled for
	// 10 s after a lull. 0.3: 13 %. 0.8: stuck at 0.44 R where runs are shorter than the round
	// trip.
	usedPart = 0.5
	// useSmooth is the time over which use is smoothed.
	useSmooth = 2
	// learnFor is how long the store learns at least; the answers of the first second do not
	// count, because not all members have heard of it. learnEvery is how often a member calls
	// then. It begins anew while more than darkShare is throttled. 0.5: never ends with 1,000 members
	// at a limit of 100. unlimitedAfter without a throttle the scope is open again.
	learnFor, learnEvery, darkShare, unlimitedAfter = 3, 0.5, 0.9, 60

	// denser is how much denser than slots appointments are: a member whose slot comes before
	// its appointment wastes it. latestAgain is the latest appointment. Without appointments,
	// ten times the calls where the members are many more than the slots in a second.
	denser, latestAgain = 1.1, 10
	// leastRate is the lowest rate, per second.
	leastRate = 0.05
	// openAfter is the time of use without a throttle after which a scope is open again.
	openAfter = 600
)

// The parameters of a member.
const (
	// lateBy is how late a slot may be used. Older ones are lost: sent all at once, they would
	// be a burst that the service was spared. 0.1 s: slower to find new capacity. 1 s: up to
	// 5.3 % throttled.
	lateBy = 500 * time.Millisecond
	// savedFor is how long a slot is kept for attempts that do not wait, after one that found
	// none. Without it, such attempts are never served where they are rare: the slot comes after
	// the attempt, and is lost before the next.
	savedFor = 10 * time.Second
	// demandWindow is the time of which a member wants as many slots again as it has used. Half
	// of it: a third more calls of the store, and nothing better.
	demandWindow = time.Second
	// leadFactor is how many of its worst round trips before its last slot a member asks for
	// more, and leadExtra is added.
	leadFactor, leadExtra = 1.2, 5 * time.Millisecond
	// leastAgain is how long a member that got no slot waits before it asks again, whatever the
	// reply says. Step never says less than a quarter of a second.
	leastAgain = 100 * time.Millisecond
	// seedLasts is how long a member remembers the state of the store.
	seedLasts = 10 * time.Minute
	// longestLook is the longest time of use between two look-ups of a member that is open. The
	// first is a second, and each is twice the one before.
	longestLook = 10 * time.Second
	// firstRetry is the time until the next call after the first failure in a row, twice as long
	// after the second, and longestRetry after each further one. All are scattered by a fifth.
	firstRetry, longestRetry = 500 * time.Millisecond, 2 * time.Second
	// hungryFor is how long attempts must have waited without a break for the own rate of the
	// member to say how long a wait takes.
	hungryFor = 2 * time.Second
	// rateWindow is the time of which a member takes what it has sent as its own rate: what it
	// holds when it has lost the store.
	rateWindow = 10 * time.Second

	// aloneCut is what a throttle leaves of the rate of a member that has lost the store, and
	// aloneBack the time in which the rate comes back in a straight line.
	aloneCut, aloneBack = 0.7, 10 * time.Second
	// aloneLeast is what a member may send each second that has sent nothing of late.
	aloneLeast = 0.1
	// aloneHold is how long a member holds its rate. Then the rate doubles, again and again.
	aloneHold = 5 * time.Minute
	// othersBack is how long it takes until all members have found the store again: longestRetry
	// with its scatter. Until then a member that has asks for no more than it has sent alone.
	// Otherwise, 0.6 to 0.9 of the rate in the half minute after an outage, where bursts are short.
	othersBack = longestRetry * 5 / 4
)
