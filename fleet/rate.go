package fleet

// learn measures what the members get without the fleet, and reports whether that is known. It
// needs a throttle, because without one there may be no limit, and more answers than throttles.
func (s *state) learn(dt float64) bool {
	s.tc += dt
	if s.tc < settle || s.bad > darkShare*(s.ok+s.bad) { // before settle some members do not know
		s.tc, s.ok, s.bad = min(s.tc, settle), 0, 0
	}
	if s.tc < learnFor || s.age > 0 {
		return false
	}
	s.use = max(s.ok/(s.tc-settle), leastRate)
	s.begin(s.use, mostRate, searching, 0)
	return true
}

// hear counts the attempts of this epoch that were not throttled.
func (s *state) hear(dt, ok float64) {
	switch {
	case s.since > 0 && s.bad <= s.lone() && s.tc >= settle+counting && s.ok >= heardShare*s.sold:
		if s.use > usedPart/2*s.wmax { // use lags behind a climb by half
			s.climb(ok)
		}
	case s.since == 0 && s.tc >= back(s.wmax):
		s.left = min(max(s.left+s.wmax*dt-ok, 0), s.wmax+margin(s.wmax))
	}
}

// lone is how many throttles to ignore: otherwise a climb that looks for a limit would end at the
// first throttle of a service without a burst.
func (s *state) lone() float64 {
	if s.since == searching {
		return 1
	}
	return 0
}

// climb raises the rate with the answers.
func (s *state) climb(ok float64) {
	growth := perAnswer
	if s.since == searching && s.goal < mostRate {
		growth = perAnswerAgain
	}
	if s.wmax += growth * ok; s.wmax >= s.goal {
		s.plateau(s.goal, s.goal+margin(s.goal))
	}
}

// margin is how many answers above the plateau start a climb, beyond a burst of a second.
func margin(rate float64) float64 { return marginTime*rate + marginAnswers }

// plateau ends a climb.
func (s *state) plateau(rate, left float64) {
	s.wmax, s.goal, s.since, s.left, s.tc = rate, rate, 0, left, back(rate)
}

// steer moves the send rate, and returns it.
func (s *state) steer(dt, ceiling float64) float64 {
	rate := s.rate()
	if s.use > usedPart*rate || s.tc < settle+counting {
		s.tc += dt
		rate = s.rate()
	}
	switch {
	case s.tc < settle:
		s.forget()
	case s.bad > s.lone() && s.tc >= settle+counting && s.ok+s.bad >= fewestAnswers:
		s.cut(rate)
	case s.since == 0 && s.left == 0 && s.tc >= back(s.wmax):
		s.wmax, s.goal, s.since, s.tc = rate, mostRate, searching, settle
		s.forget()
	}
	rate = max(s.rate(), leastRate)
	if ceiling > 0 {
		rate = min(rate, ceiling)
	}
	return rate
}

// cut begins a new epoch for a throttle at the rate.
func (s *state) cut(rate float64) {
	if s.goal == mostRate { // the answers lag behind the rate as the throttle does
		s.begin(min(rate, s.use), rate, s.since, s.left)
		return
	}
	kept, goal := rate, max(s.goal, rate)
	throttled := max(s.bad-1, 0) / max(s.ok+s.bad, fewAnswers)
	if throttled > heavyShare {
		kept = max(rate*max((1-throttled)*lostSlots, leastKept), floorShare*goal)
	}
	switch {
	case s.since > 0 && s.ok > 0:
		s.begin(kept, kept+(goal-kept)*min(s.left/leastAnswers, 1), s.since, s.left)
	case s.since > 0:
		s.begin(kept, goal, s.since, s.left)
	case kept < rate && s.bad > s.ok: // a collapse, which says nothing about what is served after it
		s.begin(kept, goal, s.epoch+1, leastAnswers+freeTime*rate)
	default:
		s.begin(kept, kept, 0, 0)
	}
}

// begin starts an epoch: with a climb if the goal is far enough, else on the curve.
func (s *state) begin(rate, goal, since, left float64) {
	s.epoch = min(s.epoch+1, mostEpoch)
	s.wmax = min(max(rate, leastRate), mostRate)
	s.goal, s.since, s.left = goal, since, left
	if goal < climbFrom*s.wmax {
		s.goal, s.since, s.left = s.wmax, 0, margin(s.wmax)
	}
	s.tc = 0
	s.forget()
}

// forget forgets the answers of the epoch.
func (s *state) forget() { s.ok, s.bad, s.sold = 0, 0, 0 }

// rate returns the send rate at this time of use since the cut.
func (s *state) rate() float64 {
	b := back(s.wmax)
	switch rest := 1 - s.tc/b; {
	case s.since > 0:
		return s.wmax
	case rest > 0:
		return s.wmax * (1 - (1-keptAfterCut)*rest*rest*rest)
	default:
		return min(s.wmax*(1+beyond*min((s.tc-b)/(beyondPart*b), 1)), mostRate)
	}
}

// back returns how many seconds the rate takes to return to where it was cut.
func back(rate float64) float64 {
	return min(max(backSlots/rate, shortestBack), longestBack)
}
