package httpretry

import (
	"bufio"
	"encoding/json"
	"encoding/xml"
	"io"
	"slices"
	"strings"
)

// codeIn returns the error code in a body of the AWS protocols, as far as it can
// be read; empty if there is none. It reads no further than it has to.
func codeIn(body io.Reader) string {
	text := bufio.NewReaderSize(body, 512)
	for {
		b, err := text.ReadByte()
		if err != nil {
			return ""
		}
		switch b {
		case ' ', '\t', '\r', '\n', 0xEF, 0xBB, 0xBF: // space, and the mark of UTF-8
			continue
		case '{':
			_ = text.UnreadByte()
			return codeInJSON(text)
		case '<':
			_ = text.UnreadByte()
			return codeInXML(text)
		default:
			return ""
		}
	}
}

// codeInJSON looks for the string members of AWS JSON and REST JSON: __type, else
// code.
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
func codeInXML(text io.Reader) string {
	decoder := xml.NewDecoder(text)
	// Codes are ASCII in whatever encoding the text claims to have.
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
