package awssdk

// A call of the SDK is a state machine. The loop of the SDK asks one method of the retryer after the
// other, and the call remembers how far it is:
//
//	idle --- begun ---> sent --- failing ---> failed --- again ---> granted --- admitted ---> sent
//	                     |                      |
//	                     +- succeeded -> over   +--- rests ---> resting --- ended ---> over
//	                                            +--- ended ---> over
//
// Three moves are open in most phases. The operation ended: from each phase but idle. The next attempt
// is forbidden: the operation has ended, and no attempt may follow. Another operation begun: a retryer
// around ours makes an attempt that the strategy has not granted.
//
// Two doors lead to it. With middlewares the call is a value of the context, which lives from the begin
// to the end of the call, and the middlewares report how each attempt ended. A plain retryer has only
// the methods. Its call is known to the functions that release a token, and otherwise by the error of
// its last attempt, see [failures]. What the methods of [aws.RetryerV2] move:
//
//	method            with middlewares               a plain retryer
//	MaxAttempts       nothing                        nothing
//	GetAttemptToken   begun, or admitted             begun; nothing before a retry
//	the attempt       succeeded or failing, by the   succeeded or failing, by the function that
//	                  middleware inside the loop     releases the token
//	IsErrorRetryable  again, rests or ended          the same
//	GetRetryToken     ended, after a rest            the same, and admitted: the wait for the send
//	                                                 rate and the quota is before the sleep
//	RetryDelay        nothing: the SDK sleeps now    nothing
//	the end           ended, by the middleware       ended, with the context during the sleep
//
// An older retryer around ours hides GetAttemptToken. The middleware does its work then.

// phase is how far a call is.
type phase uint8

const (
	idle    phase = iota // before the first attempt
	sent                 // an attempt is being made
	failed               // it has failed, and nothing is decided
	granted              // a retry is due, after a wait
	resting              // there is no retry, but a sleep before the call returns
	over                 // the strategy knows that the operation has ended
	refused              // the same, and the attempt that was due must not be made
)

// event moves a call to another phase.
type event uint8

const (
	begun     event = iota // the strategy has been told of an operation
	succeeded              // an attempt did
	failing                // an attempt did
	again                  // the strategy grants a retry
	rests                  // the strategy grants none, but a sleep
	admitted               // the retry need not wait any longer
	ended                  // no retry follows
	forbidden              // neither a retry nor an attempt that another retryer grants
)

// after returns the phase after an event. ok is false where the event changes nothing, such as the
// outcome of an attempt that was told already.
func (p phase) after(e event) (next phase, ok bool) {
	switch {
	case e == begun && p != refused:
		return sent, true
	case e == succeeded && p == sent:
		return over, true
	case e == failing && p == sent:
		return failed, true
	case e == again && p == failed:
		return granted, true
	case e == rests && p == failed:
		return resting, true
	case e == admitted && p == granted:
		return sent, true
	case e == ended && p != idle && p < over:
		return over, true
	case e == forbidden && p != idle && p < over:
		return refused, true
	}
	return p, false
}
