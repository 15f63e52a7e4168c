package outage

import (
	"fmt"
	"time"
)

// job is a part of the program: callers that do the same, each with a pause after a call.
type job struct {
	service, region, name string
	resource              func(p *program, caller int) string
	adaptive, fleet       bool // neither is standard mode
	callers               int
	pause, latency        time.Duration // on average
	timeout, maxElapsed   time.Duration // of a call; zero is none
	from, until           time.Duration // since the beginning

	// On a good day the service fails a share of the requests and refuses another one, and it
	// allows so many requests a second; zero is no limit.
	failing, refusing, limit float64
	// From faultFrom to End it fails and throttles other shares, and allows less.
	faultFrom                          time.Duration
	faultFailing, throttling, narrowed float64

	tokens float64
	filled time.Duration
}

// jobs are the parts of the program.
func jobs() []*job {
	return []*job{
		{
			service: "s3", region: "eu-central-1", name: "GetObject", resource: oneOf("images", "invoices"),
			callers: 4, pause: 2 * time.Second, latency: 60 * time.Millisecond, until: Length,
			failing: 0.02, refusing: 0.01,
		},
		{
			service: "sqs", region: "us-east-1", name: "SendMessage", resource: ownOf("queue"),
			callers: 10, pause: 2 * time.Second, latency: 15 * time.Millisecond, until: Length, maxElapsed: 2500 * time.Millisecond,
			failing: 0.02, faultFrom: 65 * time.Minute, faultFailing: 0.01, throttling: 0.44,
		},
		{
			service: "lambda", region: "us-east-1", name: "Invoke", resource: oneOf("thumbnails"),
			callers: 4, pause: 2 * time.Second, latency: 180 * time.Millisecond, until: Length,
			failing: 0.03, faultFrom: 62 * time.Minute, faultFailing: 1,
		},
		{
			service: "dynamodb", region: "eu-central-1", name: "PutItem", resource: oneOf("orders"), adaptive: true,
			callers: 40, pause: 6 * time.Second, latency: 12 * time.Millisecond, until: Length,
			failing: 0.01, limit: 20, faultFrom: Begin, narrowed: 2, faultFailing: 0.01,
		},
		{
			service: "dynamodb", region: "us-east-1", name: "GetItem", resource: oneOf("customers"), adaptive: true,
			callers: 6, pause: 2 * time.Second, latency: 8 * time.Millisecond, until: Length, timeout: 3 * time.Second,
			failing: 0.01, limit: 20, faultFrom: Begin, narrowed: 1.5, faultFailing: 0.01,
		},
		{ // the stream allows less than the three processes of the fleet send together
			service: "kinesis", region: "eu-central-1", name: "PutRecord", resource: oneOf("clicks"), fleet: true,
			callers: 48, pause: 2 * time.Second, latency: 20 * time.Millisecond, until: Length,
			failing: 0.01, limit: 12,
		},
		{ // each report is a table, and the next one comes after some minutes
			service: "dynamodb", region: "eu-central-1", name: "Query", resource: reports, adaptive: true,
			callers: 2, pause: 3 * time.Second, latency: 25 * time.Millisecond, until: Length,
			failing: 0.01,
		},
		{ // the job that reads too many tables, which throttle: a scope stays for ten minutes after a throttle
			service: "dynamodb", region: "eu-central-1", name: "Query", resource: archives, adaptive: true,
			callers: 3, pause: 3 * time.Second, latency: 25 * time.Millisecond, from: 70 * time.Minute, until: End,
			failing: 0.01, faultFrom: 70 * time.Minute, faultFailing: 0.01, throttling: 0.1,
		},
	}
}

func oneOf(names ...string) func(*program, int) string {
	return func(p *program, _ int) string { return names[int(p.float()*float64(len(names)))] }
}

func ownOf(name string) func(*program, int) string {
	return func(_ *program, caller int) string { return fmt.Sprintf("%s-%d", name, caller+1) }
}

func reports(p *program, _ int) string { return fmt.Sprintf("report-%d", 1+p.now()/(5*time.Minute)) }

func archives(p *program, _ int) string { return fmt.Sprintf("archive-%d", 1+int(p.float()*30)) }
