package httpretry_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"net/http"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/httpretry"
)

// codeOf returns the code that is found in a response, and checks that the body is unchanged.
func codeOf(tb testing.TB, header http.Header, body io.Reader, want string) (code string) {
	tb.Helper()
	got := try(tb, httpretry.Config{MaxAttempts: 1, Base: roundTripFunc(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusBadRequest, Header: header, Body: io.NopCloser(body), ContentLength: -1}, nil
	})}, newRequest(tb, http.MethodGet, ""))
	require.NoError(tb, got.bodyErr)
	require.Equal(tb, want, got.body)
	return lastOf(tb, got.refusal).Code
}

func TestCodes(t *testing.T) {
	t.Parallel()
	const inJSON, inXML = "application/x-amz-json-1.1", "text/xml;charset=utf-8"
	const s3 = `<?xml version="1.0" encoding="UTF-16"?><Error><Message>später 遅い 😀</Message><Code>SlowDown</Code></Error>`
	const latin1 = "<Error><Message>sp\xE4ter \xA7 1\xBF</Message><Code>SlowDown</Code></Error>"
	long := strings.Repeat("x", 64<<10)
	for _, c := range []struct {
		name, header, kind, encoding, body, want string
	}{
		{name: "header", header: "SlowDown", want: "SlowDown"},
		{name: "header with namespace and address", header: "com.amazonaws.s3#SlowDown:http://x/", want: "SlowDown"},
		{name: "header and body", header: "A", kind: inJSON, body: `{"__type":"B"}`, want: "A"},
		{name: "AWS JSON", kind: inJSON, body: `{"__type":"com.amazonaws.dynamodb.v20120810#ThrottlingException","message":"m"}`, want: "ThrottlingException"},
		{name: "code", kind: "application/json", body: `{"message":"m","code":"Throttling"}`, want: "Throttling"},
		{name: "Code", kind: "application/json", body: `{"Code":"Throttling"}`, want: "Throttling"},
		{name: "type before code", kind: inJSON, body: `{"code":"A","__type":"B"}`, want: "B"},
		{name: "code that is a number", kind: inJSON, body: `{"code":429}`},
		{name: "after other members", kind: inJSON, body: ` {"a":{"__type":"x"},"b":[{"code":"y"}],"__type":"T"}`, want: "T"},
		{name: "inside other members only", kind: inJSON, body: `{"error":{"code":"x"}}`},
		{name: "cut after the code", kind: inJSON, body: `{"__type":"T","mess`, want: "T"},
		{name: "cut after a code", kind: inJSON, body: `{"code":"T","mess`, want: "T"},
		{name: "cut in the code", kind: inJSON, body: `{"__type":"Thr`},
		{name: "too far away", kind: inJSON, body: `{"message":"` + long + `","__type":"T"}`},
		{name: "not an object", kind: inJSON, body: `["__type","T"]`},
		{name: "not JSON", kind: inJSON, body: `{__type:T}`},
		{name: "after a byte order mark", kind: inJSON, body: "\xEF\xBB\xBF{\"__type\":\"T\"}", want: "T"},
		{name: "S3", kind: inXML, body: `<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<Error><Code>SlowDown</Code><Message>m</Message></Error>`, want: "SlowDown"},
		{name: "query", kind: inXML, body: `<ErrorResponse xmlns="http://x/"><Error><Type>Sender</Type><Code> Throttling </Code></Error></ErrorResponse>`, want: "Throttling"},
		{name: "EC2", kind: inXML, body: `<Response><Errors><Error><Code>RequestLimitExceeded</Code></Error></Errors><RequestID>1</RequestID></Response>`, want: "RequestLimitExceeded"},
		{name: "declared as Latin-1", kind: inXML, body: `<?xml version="1.0" encoding="ISO-8859-1"?><Error><Code>SlowDown</Code></Error>`, want: "SlowDown"},
		{name: "Latin-1 before the code", kind: inXML, body: `<?xml version="1.0" encoding="ISO-8859-1"?>` + latin1, want: "SlowDown"},
		{name: "Latin-1 without a declaration", kind: "text/xml;charset=ISO-8859-1", body: latin1, want: "SlowDown"},
		{name: "Latin-1 declared as UTF-8", kind: inXML, body: `<?xml version="1.0" encoding="UTF-8"?>` + latin1, want: "SlowDown"},
		{name: "Latin-1 in an attribute", kind: inXML, body: "<Error lang='fran\xE7ais'><Code>SlowDown</Code></Error>", want: "SlowDown"},
		{name: "Shift JIS", kind: inXML, body: `<?xml version="1.0" encoding="Shift_JIS"?>` + "<Error><Message>\x8D\xAC\x8E\x47</Message><Code>SlowDown</Code></Error>", want: "SlowDown"},
		{name: "an encoding that does not exist", kind: inXML, body: `<?xml version="1.0" encoding="none"?><Error><Code>SlowDown</Code></Error>`, want: "SlowDown"},
		{name: "UTF-16, little-endian", kind: inXML, body: inUTF16(binary.LittleEndian, "\uFEFF", s3), want: "SlowDown"},
		{name: "UTF-16, big-endian", kind: inXML, body: inUTF16(binary.BigEndian, "\uFEFF", s3), want: "SlowDown"},
		{name: "UTF-16, little-endian, no mark", kind: inXML, body: inUTF16(binary.LittleEndian, s3), want: "SlowDown"},
		{name: "UTF-16, big-endian, no mark", kind: inXML, body: inUTF16(binary.BigEndian, s3), want: "SlowDown"},
		{name: "UTF-16, cut", kind: inXML, body: inUTF16(binary.BigEndian, `<Error><Code>SlowDown</Code>`)[:41]},
		{name: "control characters before the code", kind: inXML, body: "<Error><Message>\x00\x1B\uFFFE</Message><Code>SlowDown</Code></Error>", want: "SlowDown"},
		{name: "a stray ampersand before the code", kind: inXML, body: `<Error><Message>you & us, &nbsp;</Message><Code>SlowDown</Code></Error>`, want: "SlowDown"},
		{name: "Latin-1 and cut after the code", kind: inXML, body: latin1[:strings.Index(latin1, "</Error>")], want: "SlowDown"},
		{name: "Latin-1 and longer than what is looked at", kind: inXML, body: strings.Replace(latin1, "</Error>", "<Detail>"+strings.Repeat("\xFC", 64<<10), 1), want: "SlowDown"},
		{name: "Latin-1 and too far away", kind: inXML, body: "<Error><Message>" + strings.Repeat("\xFC", 64<<10) + "</Message><Code>SlowDown</Code></Error>"},
		{name: "Latin-1 in the code", kind: inXML, body: "<Error><Code>Zur\xFCck</Code></Error>", want: "Zur?ck"},
		{name: "UTF-8 in the code", kind: inXML, body: "<Error><Code>Zurück</Code></Error>", want: "Zurück"},
		{name: "Latin-1 in JSON", kind: inJSON, body: "{\"message\":\"zur\xFCck\",\"__type\":\"T\"}", want: "T"},
		{name: "Latin-1 in a name in JSON", kind: inJSON, body: "{\"\xFC\":{\"\xFC\":1},\"__type\":\"T\"}", want: "T"},
		{name: "elsewhere in XML", kind: inXML, body: `<Error><Detail><Code>x</Code></Detail></Error>`},
		{name: "empty element", kind: inXML, body: `<Error><Code/><Message>m</Message></Error>`},
		{name: "cut XML", kind: inXML, body: `<Error><Code>Slow`},
		{name: "another document", kind: inXML, body: `<html><Error><Code>x</Code></Error></html>`},
		{name: "no content type", body: `{"__type":"T"}`, want: "T"},
		{name: "another content type", kind: "text/html", body: `<Error><Code>x</Code></Error>`},
		{name: "compressed", kind: inJSON, encoding: "gzip", body: `{"__type":"T"}`},
		{name: "empty", kind: inJSON},
		{name: "text", body: "no"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			header := http.Header{"X-Amzn-Errortype": {c.header}, "Content-Type": {c.kind}, "Content-Encoding": {c.encoding}}
			require.Equal(t, c.want, codeOf(t, header, strings.NewReader(c.body), c.body))
		})
	}
}

// inUTF16 encodes the texts one after the other.
func inUTF16(order binary.AppendByteOrder, texts ...string) string {
	var encoded []byte
	for _, unit := range utf16.Encode([]rune(strings.Join(texts, ""))) {
		encoded = order.AppendUint16(encoded, unit)
	}
	return string(encoded)
}

// FuzzCode looks for a code in any body of a failed response. Nothing may panic, the body must
// stay as it is, the code must be a part of the body or spelled with escapes, and must not
// depend on the pieces in which the body comes.
func FuzzCode(f *testing.F) {
	f.Add([]byte(`{"__type":"a#b"}`), 1)
	f.Add([]byte(`<Error><Code>c</Code></Error>`), 7)
	f.Fuzz(func(t *testing.T, body []byte, size int) {
		whole := codeOf(t, http.Header{}, bytes.NewReader(body), string(body))
		pieces := io.Reader(&inPieces{bytes.NewReader(body), 1 + (size&0x7fffffff)%64})
		require.Equal(t, whole, codeOf(t, http.Header{}, pieces, string(body)))
		require.NotContains(t, whole, ":")
		require.True(t, utf8.ValidString(whole))
		if utf8.Valid(body) && !bytes.ContainsAny(body, `\&<`) {
			require.Contains(t, string(body), whole)
		}
	})
}

type inPieces struct {
	io.Reader
	size int
}

func (p *inPieces) Read(b []byte) (int, error) { return p.Reader.Read(b[:min(len(b), p.size)]) }
