package httpretry

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"encoding/xml"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// codeIn returns the error code in a body of the AWS protocols. It returns "" for a body
// without a code, or one that ends before the code does. It reads no further than the end
// of the code.
func codeIn(body io.Reader) string {
	text := bufio.NewReaderSize(body, 512)
	for {
		b, err := text.ReadByte()
		if err != nil {
			return ""
		}
		switch b {
		case ' ', '\t', '\r', '\n', 0xEF, 0xBB, 0xBF, 0xFE, 0xFF: // space, and byte order marks
			continue
		case '{':
			_ = text.UnreadByte()
			return codeInJSON(text)
		case '<', 0: // 0 is the first half of a < in UTF-16
			_ = text.UnreadByte()
			return codeInXML(text)
		default:
			return ""
		}
	}
}

// codeInJSON looks for the string members of AWS JSON and REST JSON: __type, else code. The
// decoder accepts bytes that are not UTF-8.
func codeInJSON(text io.Reader) (code string) {
	decoder := json.NewDecoder(text)
	if _, err := decoder.Token(); err != nil {
		return ""
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return code
		}
		var value any
		if err := decoder.Decode(&value); err != nil {
			return code
		}
		found, _ := value.(string)
		switch {
		case found == "":
		case name == "__type":
			return found
		case name == "code", name == "Code":
			code = found
		}
	}
	return code
}

// codeInXML looks for the element of REST XML, of S3, and of the query protocols.
func codeInXML(text *bufio.Reader) string {
	decoder := xml.NewDecoder(newXMLText(text))
	decoder.Strict = false // a stray & or an unknown entity in a message hides no code
	decoder.CharsetReader = func(_ string, input io.Reader) (io.Reader, error) { return input, nil }
	var path []string
	code := "" // so far: its element may have been cut
	for {
		token, err := decoder.Token()
		if err != nil {
			return ""
		}
		switch token := token.(type) {
		case xml.StartElement:
			path = append(path, token.Name.Local)
			if !leadsToCode(path[0]) {
				return ""
			}
		case xml.EndElement:
			if code != "" && isCode(path) {
				return code
			}
			path = path[:len(path)-1]
		case xml.CharData:
			if isCode(path) {
				code += strings.TrimSpace(string(token))
			}
		}
	}
}

func leadsToCode(root string) bool {
	return root == "Error" || root == "ErrorResponse" || root == "Response"
}

func isCode(path []string) bool {
	return slices.Equal(path, []string{"Error", "Code"}) ||
		slices.Equal(path, []string{"ErrorResponse", "Error", "Code"}) ||
		slices.Equal(path, []string{"Response", "Errors", "Error", "Code"})
}

// xmlText converts a document in any encoding to UTF-8 that encoding/xml accepts. Elements
// and codes are ASCII, and every encoding but UTF-16 has ASCII as single bytes. So what is
// not UTF-8 or not allowed in XML becomes a question mark, whatever encoding the document
// declares.
type xmlText struct {
	from   *bufio.Reader
	utf16  binary.ByteOrder // nil for any other encoding
	buffer [utf8.UTFMax]byte
	rest   []byte // of the present character, in buffer
}

// newXMLText looks at the first character of the document, which is a <.
func newXMLText(from *bufio.Reader) *xmlText {
	t := &xmlText{from: from}
	switch start, _ := from.Peek(2); string(start) {
	case "<\x00":
		t.utf16 = binary.LittleEndian
	case "\x00<":
		t.utf16 = binary.BigEndian
	}
	return t
}

// ReadByte returns the next byte. The decoder calls it, and so reads nothing ahead.
func (t *xmlText) ReadByte() (byte, error) {
	if len(t.rest) == 0 {
		r, err := t.next()
		if err != nil {
			return 0, err
		}
		t.rest = utf8.AppendRune(t.buffer[:0], r)
	}
	b := t.rest[0]
	t.rest = t.rest[1:]
	return b, nil
}

// Read is never called: the decoder needs an io.Reader but uses ReadByte.
func (t *xmlText) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	b, err := t.ReadByte()
	if err != nil {
		return 0, err
	}
	p[0] = b
	return 1, nil
}

// next returns the next character.
func (t *xmlText) next() (rune, error) {
	if t.utf16 != nil {
		var unit [2]byte
		if _, err := io.ReadFull(t.from, unit[:]); err != nil {
			return 0, err
		}
		return allowed(rune(t.utf16.Uint16(unit[:]))), nil
	}
	r, size, err := t.from.ReadRune()
	if r == utf8.RuneError && size == 1 {
		r = '?'
	}
	return allowed(r), err
}

// allowed returns r if it may be in a document of XML 1.0 (section 2.2, Char). The
// halves of surrogate pairs may not.
func allowed(r rune) rune {
	switch {
	case r == '\t', r == '\n', r == '\r', r >= 0x20 && r <= 0xD7FF, r >= 0xE000 && r <= 0xFFFD, r >= 0x10000:
		return r
	default:
		return '?'
	}
}
