package awssdk

import "strings"

// place is what the name, the ARN or the URL of a resource says. Its texts are parts of that text.
// What the text does not say is empty.
type place struct{ account, region, name string }

// placeOf returns what AWS throttles by when an input of the service names a resource with this
// text, so that all texts of one resource have one name. The name is empty if the text is that of
// no such resource.
func placeOf(service, text string) place {
	switch service {
	case "sqs":
		return queueAt(text)
	case "lambda":
		return functionAt(text)
	}
	at, ok := parseARN(text)
	if !ok {
		return place{name: text}
	}
	switch service {
	case "dynamodb", "dynamodb streams":
		at.name = strings.TrimPrefix(at.name, "table/")
	case "kinesis":
		at.name = strings.TrimPrefix(at.name, "stream/")
	case "sns":
		if strings.Contains(at.name, "/") {
			return place{} // a phone, not a topic: what is sent to phones counts together
		}
	}
	return at
}

// alsoByName reports whether inputs may name a resource of the service without its account.
func alsoByName(service string) bool {
	return service == "dynamodb" || service == "kinesis" || service == "lambda"
}

// parseARN reads arn:partition:service:region:account:resource. Region and account may be empty.
func parseARN(text string) (at place, ok bool) {
	rest, ok := strings.CutPrefix(text, "arn:")
	if !ok {
		return place{}, false
	}
	_, rest, _ = strings.Cut(rest, ":") // the partition
	_, rest, _ = strings.Cut(rest, ":") // the service
	at.region, rest, _ = strings.Cut(rest, ":")
	at.account, at.name, _ = strings.Cut(rest, ":")
	if at.name == "" || at.account != "" && !isAccount(at.account) {
		return place{}, false
	}
	return at, true
}

// queueAt reads the URL of a queue. The path of each form of it ends with the account and the name;
// the host is that of the region, of an older form, of a VPC endpoint or of an emulator.
func queueAt(url string) place {
	slash := strings.LastIndexByte(url, '/')
	if slash < 0 {
		return place{name: url}
	}
	head, name := url[:slash], url[slash+1:]
	account := head[strings.LastIndexByte(head, '/')+1:]
	if name == "" || !isAccount(account) {
		return place{name: url}
	}
	return place{account: account, name: name}
}

// functionAt reads the name of a function, its ARN, or the end of its ARN from the region or the
// account on. The version or alias after it does not count: the concurrency is that of the function.
func functionAt(text string) place {
	at, ok := parseARN(text)
	if !ok {
		at = place{name: text}
		head, rest, _ := strings.Cut(text, ":")
		if account, _, _ := strings.Cut(rest, ":"); isAccount(account) {
			at.region, at.name = head, rest
		}
		if account, rest, _ := strings.Cut(at.name, ":"); isAccount(account) && rest != "" {
			at.account, at.name = account, rest
		}
	}
	at.name, _, _ = strings.Cut(strings.TrimPrefix(at.name, "function:"), ":")
	if at.name == "" {
		return place{name: text}
	}
	return at
}

// isAccount reports whether the text is the id of an AWS account: twelve digits.
func isAccount(text string) bool {
	if len(text) != 12 {
		return false
	}
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return true
}
