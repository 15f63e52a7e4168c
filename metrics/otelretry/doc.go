// Package otelretry records what awsretry's retry strategies do with OpenTelemetry: metrics of calls,
// attempts, waits and scopes, and events on the program's spans. [Telemetry] is a [retry.Observer].
//
// # Metrics
//
//	awsretry.call.duration         histogram, s             time of a call, waits included, by awsretry.outcome
//	awsretry.call.retries          histogram, {retry}       retries of a call that had any
//	awsretry.call.retry_delay      histogram, s             time of a call in backoff and in waits for retry quota
//	awsretry.attempts              counter, {attempt}       by awsretry.kind, and error.type after a failure
//	awsretry.attempt.duration      histogram, s             time of an attempt, without waits, by awsretry.kind
//	awsretry.throttles             counter, {attempt}       by awsretry.reach, and awsretry.limit if it is known
//	awsretry.entries.throttled     counter, {entry}         throttled entries inside successful batches and canceled transactions
//	awsretry.retries.refused       counter, {retry}         by awsretry.reason
//	awsretry.send.wait             histogram, s             time that an attempt waited for the send rate
//	awsretry.send.rate             gauge, {attempt}/s       send rate of a scope, where there is a limit
//	awsretry.send.measured_rate    gauge, {attempt}/s       smoothed rate of answers, in adaptive mode
//	awsretry.send.waiting          gauge, {attempt}         attempts that wait for the send rate, in adaptive mode
//	awsretry.quota.available       gauge, {token}           tokens left in the retry quota of a scope
//	awsretry.quota.capacity        gauge, {token}           tokens that the retry quota of a scope can hold
//	awsretry.quota.strained_calls  counter, {operation}     operations of a scope that ended while its quota was not full
//	awsretry.quota.refused_calls   counter, {operation}     operations of a scope that failed for lack of quota
//	awsretry.quota.pool.available  gauge, {token}           tokens left in the pools of all watched strategies
//	awsretry.quota.pool.capacity   gauge, {token}           tokens that these pools can hold
//	awsretry.quota.pools.empty     gauge, {strategy}        strategies that cannot pay for a retry in some scope
//	awsretry.fleet.rate            gauge, {attempt}/s       send rate of the whole fleet, where there is a limit
//	awsretry.fleet.slots           gauge, {slot}            slots of the fleet that a scope has in hand, where there is a limit
//	awsretry.fleet.state           gauge, {scope}           1, by awsretry.fleet.state
//	awsretry.fleet.store.calls     counter, {call}          calls of the store of the fleet
//	awsretry.fleet.store.failures  counter, {call}          calls of the store that failed
//	awsretry.fleet.stores.unreached  gauge, {strategy}      strategies whose store has never answered
//	awsretry.info                  gauge, {strategy}        1, by mode, attempts, behavior and version
//	awsretry.scopes                gauge, {scope}           scopes of all watched strategies
//	awsretry.scopes.overflowed     counter, {operation}     operations that used the overflow scope
//	awsretry.scopes.evicted        counter, {scope}         scopes whose state was dropped
//
// Histograms and the counters of attempts, entries and retries have the attributes rpc.service,
// rpc.method and cloud.region: Service, Name and Region of the [retry.Operation]. Empty ones are absent.
// They are those of the semantic conventions for spans of AWS SDKs, which spell services as in DynamoDB. awsretry.outcome and
// awsretry.reason are words of [retry.Event.Outcome]. awsretry.kind is "ok" after a success, otherwise the
// verdict's kind. error.type is [retry.Event.ErrorType].
//
// Metrics of a scope have the attributes awsretry.scope, rpc.service and cloud.region. The hottest scopes,
// with the most waiting attempts or the most quota used, have series of their own. All others add up in
// the awsretry.scope "other". Only scopes that have called the store of a fleet have the metrics of a
// fleet. awsretry.fleet.state is the SendRateSource of [retry.ScopeSnapshot]. Of these metrics "other" has
// only the state, the worst of its scopes, because counters would go back when a scope leaves "other".
//
// A program needs only one Telemetry: with the same MeterProvider, the gauges of two replace each other.
//
// # Limits
//
// A [Telemetry] keeps 1,000 combinations of service, method and region, and 200 error codes and limit
// names. Later ones count as "_OTHER". Texts are cut after 200 bytes, and invalid UTF-8 is replaced. The
// OpenTelemetry SDK keeps 2,000 combinations of attributes for each instrument, unless the program sets
// another limit.
//
// # Traces
//
// A Telemetry begins no spans. It adds events to the span in the operation's context, if that span is
// recording: awsretry.retry before each backoff, awsretry.send_wait after each wait for the send rate, and
// awsretry.refused when a retry is refused. A failure that is not retryable has no such event, because
// the span shows it already.
package otelretry
