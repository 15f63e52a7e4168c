// Package doors plays each sort of failure at each door of awsretry, beside the plain SDK and go-retryablehttp,
// over real sockets. Its test holds the table of docs/classification.md.
package doors
