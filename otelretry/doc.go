// Package otelretry tells OpenTelemetry what strategies of awsretry do: figures of calls, attempts,
// waits and scopes, and events on the spans of the program. [Telemetry] is a [retry.Observer].
//
// # Metrics
//
//	awsretry.call.duration         histogram, s             time of a call, waits included, by awsretry.outcome
//	awsretry.call.retries          histogram, {retry}       retries of a call, of calls with a retry only
//	awsretry.call.retry_delay      histogram, s             time of a call in backoff and in waits for retry quota
//	awsretry.attempts              counter, {attempt}       by awsretry.kind, and error.type after a failure
//	awsretry.attempt.duration      histogram, s             time of an attempt, without waits, by awsretry.kind
//	awsretry.retries.refused       counter, {retry}         by awsretry.reason
//	awsretry.send.wait             histogram, s             time that an attempt waited for the send rate
//	awsretry.send.rate             gauge, {attempt}/s       send rate of a scope, where there is a limit
//	awsretry.send.measured_rate    gauge, {attempt}/s       smoothed rate of answers, in adaptive mode
//	awsretry.send.waiting          gauge, {attempt}         attempts that wait for the send rate, in adaptive mode
//	awsretry.quota.available       gauge, {token}           tokens left in the retry quota of a scope
//	awsretry.quota.capacity        gauge, {token}           tokens that the retry quota of a scope can have
//	awsretry.quota.pool.available  gauge, {token}           tokens left in the pools of all watched strategies
//	awsretry.quota.pool.capacity   gauge, {token}           tokens that these pools can have
//	awsretry.fleet.rate            gauge, {attempt}/s       send rate of the whole fleet, where there is a limit
//	awsretry.fleet.slots           gauge, {slot}            slots of the fleet that a scope has in hand, where there is a limit
//	awsretry.fleet.state           gauge, {scope}           1, by awsretry.fleet.state
//	awsretry.fleet.store.calls     counter, {call}          calls of the store of the fleet
//	awsretry.fleet.store.failures  counter, {call}          those of them that failed
//	awsretry.scopes                gauge, {scope}           scopes of all watched strategies
//	awsretry.scopes.overflowed     counter, {operation}     operations that found no place for a scope of their own
//	awsretry.scopes.evicted        counter, {scope}         scopes whose state was dropped
//
// Histograms and the counters of calls, attempts and retries have the attributes rpc.service, rpc.method
// and aws.region, which are Service, Name and Region of the [retry.Operation]. An empty one is absent. The
// AWS SDKs have the same attributes, but their services are spelled as in DynamoDB. The words of
// awsretry.outcome and awsretry.reason are those of [retry.Event.Outcome]. awsretry.kind is "ok" after a
// success, and else the kind of the verdict. error.type is [retry.Event.ErrorType].
//
// The gauges of a scope have the attributes awsretry.scope, rpc.service and aws.region. There are gauges
// for the hottest scopes, in which most attempts wait or most of the quota is used, and one more series
// for the rest, whose awsretry.scope is "other". The metrics of a fleet have the same attributes, and are there for scopes that have called the
// store of a fleet. awsretry.fleet.state is the SendRateSource of [retry.ScopeSnapshot]. "other" has only
// the state, the worst one of its scopes: counters would go back when a scope leaves "other".
//
// The gauges of two Telemetries with the same MeterProvider replace each other. A program needs only one.
//
// # Limits
//
// A [Telemetry] keeps 1,000 combinations of service, method and region, and 200 error codes. Those that
// come later count as "_OTHER". Texts are cut after 200 bytes, and what is not UTF-8 is replaced. The SDK
// of OpenTelemetry has a limit of its own: of each instrument it keeps 2,000 combinations of attributes,
// unless the program sets another limit.
//
// # Traces
//
// A Telemetry begins no spans. It adds events to the span in the context of the operation, if that span
// is recording: awsretry.retry before each backoff, awsretry.send_wait after each wait for the send
// rate, and awsretry.refused where a retry is refused. An error that no classifier asks to retry has no
// such event, because the span shows it already.
package otelretry
