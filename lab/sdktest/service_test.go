package sdktest

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/testonly/pipenet"
)

// fault is what happens to a request instead of an answer.
type fault string

const (
	none          fault = ""
	throttled     fault = "throttle"
	hinted        fault = "throttle with x-amz-retry-after"
	internal      fault = "500"
	unavailable   fault = "503"
	reset         fault = "reset"
	resetLater    fault = "reset after a while"
	closed        fault = "close"
	resetInBody   fault = "reset in mid-body"
	closedInBody  fault = "close in mid-body"
	silence       fault = "no headers until the client gives up"
	silenceInBody fault = "no end of the body until the client gives up"
	skewed        fault = "clock skew"
	lateHeaders   fault = "slow headers"
	invocationKey       = "Amz-Sdk-Invocation-Id"
)

// service is as much of DynamoDB and SQS (awsJson1.0), SNS (query) and S3 (rest-xml) as the
// tests need, with faults.
type service struct {
	plan  func(call string, n int) fault // for request n of a call, from 0
	peers *peers
	next  http.Handler // answers in place of the service if it is not nil

	mu       sync.Mutex // guards all below
	requests map[string]int
	answered map[string]bool
	repeated int // requests of calls that were answered before
	skews    int
	objects  map[string][]byte
	messages []string
}

// newService starts a service that ends with the test.
func newService(t *testing.T, plan func(call string, n int) fault) (*service, *httptest.Server) {
	t.Helper()
	s := &service{
		plan: plan, peers: &peers{}, requests: map[string]int{}, answered: map[string]bool{}, objects: map[string][]byte{},
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, server
}

// twice lets the first two requests of every call fail.
func twice(f fault) func(string, int) fault {
	return func(_ string, n int) fault {
		if n < 2 {
			return f
		}
		return none
	}
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	call := r.Header.Get(invocationKey)
	switch f := s.arrived(call); f {
	case none:
		s.answer(w, r, body, call)
	case lateHeaders:
		pause(20 * time.Millisecond)
		s.answer(w, r, body, call)
	case throttled, hinted, internal, unavailable, skewed:
		s.refuse(w, r, f)
	case silence:
		s.peers.giveUp(r.RemoteAddr)
		<-r.Context().Done()
	case silenceInBody:
		pause(20 * time.Millisecond) // or net/http may still be sending the request, and end with its body
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "{")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	default:
		s.cut(w, r, body, f)
	}
}

// arrived counts a request and returns what happens to it.
func (s *service) arrived(call string) fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.requests[call]
	s.requests[call]++
	if s.answered[call] {
		s.repeated++
	}
	return s.plan(call, n)
}

// answer answers without a fault.
func (s *service) answer(w http.ResponseWriter, r *http.Request, body []byte, call string) {
	s.mu.Lock()
	s.answered[call] = true
	s.mu.Unlock()
	if s.next != nil {
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		s.next.ServeHTTP(w, r)
		return
	}
	contentType, text := s.handle(r, body)
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	_, _ = io.WriteString(w, text)
}

// handle executes a request and returns the body of the answer.
func (s *service) handle(r *http.Request, body []byte) (contentType, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, operation, isJSON := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	switch {
	case isJSON:
		return "application/x-amz-json-1.0", s.json(operation, body)
	case strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded"):
		form, _ := url.ParseQuery(string(body))
		s.messages = append(s.messages, form.Get("Message"))
		return "text/xml", `<PublishResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><PublishResult><MessageId>m</MessageId>` +
			`</PublishResult><ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></PublishResponse>`
	case r.Method == http.MethodPut:
		s.objects[r.URL.Path] = body
		return "application/xml", ""
	case r.URL.Query().Has("list-type"):
		var b strings.Builder
		b.WriteString(`<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>photos</Name>`)
		fmt.Fprintf(&b, `<KeyCount>%d</KeyCount>`, 20)
		for i := range 20 {
			fmt.Fprintf(&b, `<Contents><Key>object-%d</Key><Size>1</Size></Contents>`, i)
		}
		return "application/xml", b.String() + `</ListBucketResult>`
	default:
		return "application/octet-stream", string(s.objects[r.URL.Path])
	}
}

func (s *service) json(operation string, body []byte) string {
	switch operation {
	case "PutItem":
		var in struct {
			TableName string
			Item      struct{ ID struct{ S string } }
		}
		_ = json.Unmarshal(body, &in)
		s.objects[in.TableName+"/"+in.Item.ID.S] = body
		return `{}`
	case "SendMessage":
		var in struct{ MessageBody string }
		_ = json.Unmarshal(body, &in)
		s.messages = append(s.messages, in.MessageBody)
		sum := md5.Sum([]byte(in.MessageBody))
		return `{"MessageId":"m","MD5OfMessageBody":"` + hex.EncodeToString(sum[:]) + `"}`
	default:
		return `{}`
	}
}

// refuse answers with an error in the format of the client.
func (s *service) refuse(w http.ResponseWriter, r *http.Request, f fault) {
	status, code := http.StatusInternalServerError, "InternalFailure"
	isJSON := r.Header.Get("X-Amz-Target") != ""
	isS3 := !isJSON && !strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded")
	switch f {
	case throttled, hinted:
		status, code = http.StatusBadRequest, "ThrottlingException"
		if isS3 {
			status, code = http.StatusServiceUnavailable, "SlowDown"
		}
	case unavailable:
		status, code = http.StatusServiceUnavailable, "ServiceUnavailable"
	case skewed:
		status, code = http.StatusForbidden, "RequestTimeTooSkewed"
		s.mu.Lock()
		s.skews++ // another skew each time, because the SDK corrects its clock
		w.Header().Set("Date", time.Now().Add(time.Duration(s.skews)*time.Hour).UTC().Format(http.TimeFormat))
		s.mu.Unlock()
	default: // internal
	}
	if f == hinted {
		w.Header().Set("X-Amz-Retry-After", "1")
	}
	text := `<ErrorResponse><Error><Type>Sender</Type><Code>` + code + `</Code><Message>made up</Message></Error></ErrorResponse>`
	switch {
	case isJSON:
		w.Header().Set("X-Amzn-Errortype", code)
		text = `{"__type":"com.amazonaws.made.up#` + code + `","message":"made up"}`
	case isS3:
		text = `<Error><Code>` + code + `</Code><Message>made up</Message></Error>`
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

// cut ends the connection before or in the middle of the answer.
func (s *service) cut(w http.ResponseWriter, r *http.Request, body []byte, f fault) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	if f == resetLater {
		pause(100 * time.Millisecond)
	}
	if f == resetInBody || f == closedInBody {
		contentType, text := s.handle(r, body)
		text += strings.Repeat(" ", 100)
		_, _ = fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", contentType, len(text), text[:len(text)/8])
	}
	if f == reset || f == resetLater || f == resetInBody {
		switch conn := conn.(type) {
		case *net.TCPConn:
			_ = conn.SetLinger(0)
		case *pipenet.Conn:
			_ = conn.Reset()
		}
	}
}

// peers are the connections as the client has them. The service can make a client give up, so
// that no test waits for a timeout.
type peers struct {
	mu   sync.Mutex // guards open
	open map[string]net.Conn
}

func (p *peers) opened(conn net.Conn) net.Conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open == nil {
		p.open = map[string]net.Conn{}
	}
	p.open[conn.LocalAddr().String()] = conn
	return &peer{Conn: conn, closed: func() { p.gone(conn) }}
}

func (p *peers) gone(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, conn.LocalAddr().String())
}

// left returns how many connections are open.
func (p *peers) left() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.open)
}

// giveUp lets the read of the client time out.
func (p *peers) giveUp(address string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if conn := p.open[address]; conn != nil {
		_ = conn.SetReadDeadline(time.Unix(1, 0))
	}
}

type peer struct {
	net.Conn
	once   sync.Once
	closed func()
}

func (p *peer) Close() error {
	p.once.Do(p.closed)
	return p.Conn.Close()
}

// requireBooks checks that every call was answered once, after the given number of requests.
func (s *service) requireBooks(t *testing.T, calls, requestsOfEach int) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	require.Len(t, s.requests, calls)
	require.Len(t, s.answered, calls, "lost")
	require.Zero(t, s.repeated, "sent again after the answer")
	for call, n := range s.requests {
		require.Equal(t, requestsOfEach, n, call)
	}
}

// overTCP returns an HTTP client for the SDK clients of one test, whose connections are known.
func overTCP(t *testing.T, known *peers) *http.Client {
	t.Helper()
	var dialer net.Dialer
	transport := &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return known.opened(conn), nil
		},
		MaxIdleConnsPerHost: 100,
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: plainBodies{transport}}
}

// plainBodies hides the method WriteTo of the request bodies of the SDK. The SDK closes a body
// once the response has begun, and WriteTo then returns the error io.EOF. A transport that has
// sent the body and looks for more of it then closes the connection, although the response is
// still being read.
type plainBodies struct{ http.RoundTripper }

func (t plainBodies) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.ContentLength > 0 {
		r = r.WithContext(r.Context())
		r.Body = struct{ io.ReadCloser }{r.Body}
	}
	return t.RoundTripper.RoundTrip(r)
}
