package awssdk

import (
	"reflect"
	"slices"
	"strings"
)

// resourceOf returns the resource that the input of an operation names, as the input spells it: a name, an ARN or a URL. It
// is empty if the input names nothing by which the service throttles, or several resources: a batch over two tables belongs
// to the service in the region as a whole. It slows neither table, and neither table slows it.
func (s *shared) resourceOf(service string, input any) string {
	v := reflect.ValueOf(input)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return ""
	}
	v = v.Elem()
	known, ok := s.inputs.Load(v.Type())
	if !ok {
		known, _ = s.inputs.LoadOrStore(v.Type(), namesIn(service, v.Type()))
	}
	names, _ := known.([]int)
	for _, i := range names {
		if name := textOf(v.Field(i)); name != "" {
			return name
		}
	}
	if service == "dynamodb" && len(names) == 0 {
		return tableIn(v)
	}
	return ""
}

// namesIn returns the indices of the fields of an input that name a resource.
func namesIn(service string, input reflect.Type) (names []int) {
	for _, name := range fieldsOf(service) {
		if f, ok := input.FieldByName(name); ok && len(f.Index) == 1 && f.Type == reflect.TypeFor[*string]() {
			names = append(names, f.Index[0])
		}
	}
	return names
}

// fieldsOf returns the fields of inputs that name a resource of the service by which it throttles.
// The first one that is set counts.
func fieldsOf(service string) []string {
	switch service {
	case "dynamodb":
		return []string{"TableName"}
	case "dynamodb streams":
		return []string{"StreamArn"}
	case "s3":
		return []string{"Bucket"}
	case "sqs":
		return []string{"QueueUrl"}
	case "sns":
		return []string{"TopicArn", "TargetArn"}
	case "kinesis":
		return []string{"ConsumerARN", "StreamARN", "StreamName"}
	case "lambda":
		return []string{"FunctionName"}
	default:
		return nil
	}
}

// tableIn returns the one table of a batch, whose tables are the keys of a map, or of a transaction, each item of which has
// one member: a Put, a Delete or another structure with a table.
func tableIn(input reflect.Value) string {
	var tables []string
	if batch := input.FieldByName("RequestItems"); batch.Kind() == reflect.Map {
		for _, key := range batch.MapKeys() {
			tables = append(tables, textOf(key))
		}
	}
	if items := input.FieldByName("TransactItems"); items.Kind() == reflect.Slice {
		for i := range items.Len() {
			if item := items.Index(i); item.Kind() == reflect.Struct {
				for _, member := range item.Fields() {
					if name := textOf(within(member, "TableName")); name != "" {
						tables = append(tables, name)
					}
				}
			}
		}
	}
	slices.Sort(tables)
	if tables = slices.Compact(tables); len(tables) != 1 {
		return ""
	}
	return tables[0]
}

// resource is what the name, the ARN or the URL of a resource says. Its texts are parts of that text.
// What the text does not say is empty.
type resource struct{ account, region, name string }

// parseResource returns what AWS throttles by when an input of the service names a resource with this text, so that all
// texts of one resource have one name. The name is empty if the text is that of no such resource.
func parseResource(service, text string) resource {
	switch service {
	case "sqs":
		return queueAt(text)
	case "lambda":
		return functionAt(text)
	}
	at, ok := parseARN(text)
	if !ok {
		return resource{name: text}
	}
	switch service {
	case "dynamodb", "dynamodb streams":
		at.name = strings.TrimPrefix(at.name, "table/")
	case "kinesis":
		at.name = strings.TrimPrefix(at.name, "stream/")
	case "sns":
		if strings.Contains(at.name, "/") {
			return resource{} // a phone, not a topic: what is sent to phones counts together
		}
	}
	if at.name == "" {
		return resource{name: text}
	}
	return at
}

// alsoByName reports whether inputs may name a resource of the service without its account.
func alsoByName(service string) bool {
	return service == "dynamodb" || service == "kinesis" || service == "lambda"
}

// parseARN reads arn:partition:service:region:account:resource. Region and account may be empty.
func parseARN(text string) (at resource, ok bool) {
	rest, ok := strings.CutPrefix(text, "arn:")
	if !ok {
		return resource{}, false
	}
	_, rest, _ = strings.Cut(rest, ":") // the partition
	_, rest, _ = strings.Cut(rest, ":") // the service
	at.region, rest, _ = strings.Cut(rest, ":")
	at.account, at.name, _ = strings.Cut(rest, ":")
	if at.name == "" || at.account != "" && !isAccount(at.account) {
		return resource{}, false
	}
	return at, true
}

// queueAt reads the URL of a queue. The path of each form of it ends with the account and the name;
// the host is that of the region, of an older form, of a VPC endpoint or of an emulator.
func queueAt(url string) resource {
	slash := strings.LastIndexByte(url, '/')
	if slash < 0 {
		return resource{name: url}
	}
	head, name := url[:slash], url[slash+1:]
	account := head[strings.LastIndexByte(head, '/')+1:]
	if name == "" || !isAccount(account) {
		return resource{name: url}
	}
	return resource{account: account, name: name}
}

// functionAt reads the name of a function, its ARN, or the end of its ARN from the region or the
// account on. The version or alias after it does not count: the concurrency is that of the function.
func functionAt(text string) resource {
	at, ok := parseARN(text)
	if !ok {
		at = resource{name: text}
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
		return resource{name: text}
	}
	return at
}

// isAccount reports whether the text is the id of an AWS account: twelve digits.
func isAccount(text string) bool {
	return len(text) == 12 && strings.Trim(text, "0123456789") == ""
}
