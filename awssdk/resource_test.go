package awssdk

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

type getItemInput struct {
	TableName *string
	Other     int
}

type batchInput struct{ RequestItems map[string]int }

type oddInput struct {
	TableName     string // no input of the SDK looks so
	RequestItems  []int
	TransactItems map[int]int
}

type oddItems struct{ TransactItems []int }

func TestResourceOfOddInputsIsEmpty(t *testing.T) {
	t.Parallel()
	var s shared
	name := "orders"
	require.Equal(t, "orders", s.resourceOf("dynamodb", &getItemInput{TableName: &name}))
	require.Empty(t, s.resourceOf("dynamodb", &getItemInput{}))
	require.Empty(t, s.resourceOf("dynamodb", (*getItemInput)(nil)))
	require.Empty(t, s.resourceOf("dynamodb", getItemInput{TableName: &name}))
	require.Empty(t, s.resourceOf("dynamodb", &name))
	require.Empty(t, s.resourceOf("dynamodb", nil))
	require.Empty(t, s.resourceOf("dynamodb", &oddInput{TableName: name}))
	require.Equal(t, "orders", s.resourceOf("dynamodb", &batchInput{map[string]int{"orders": 1}}))
	require.Empty(t, s.resourceOf("dynamodb", &batchInput{map[string]int{"orders": 1, "users": 1}}))
	require.Empty(t, s.resourceOf("dynamodb", &batchInput{}))
	require.Empty(t, s.resourceOf("dynamodb", &oddItems{TransactItems: []int{1}}))
}

const account = "111122223333"

func TestParseResource(t *testing.T) {
	t.Parallel()
	orders := resource{account, "eu-central-1", "orders"}
	resize := resource{account, "", "resize"}
	for _, c := range []struct {
		service, text string
		want          resource
	}{
		{"dynamodb", "orders", resource{name: "orders"}},
		{"dynamodb", "arn:aws:dynamodb:eu-central-1:111122223333:table/orders", orders},
		{"dynamodb", "arn:aws-us-gov:dynamodb:us-gov-west-1:111122223333:table/orders", resource{account, "us-gov-west-1", "orders"}},
		{"dynamodb streams", "arn:aws:dynamodb:eu-central-1:111122223333:table/orders/stream/1", resource{account, "eu-central-1", "orders/stream/1"}},
		{"kinesis", "arn:aws:kinesis:eu-central-1:111122223333:stream/orders", orders},
		{"sns", "arn:aws:sns:eu-central-1:111122223333:orders", orders},
		{"sns", "arn:aws:sns:eu-central-1:111122223333:endpoint/GCM/app/1", resource{}},
		{"s3", "orders", resource{name: "orders"}},
		{"s3", "arn:aws:s3:::orders", resource{name: "orders"}},
		{"s3", "arn:aws:s3:eu-central-1:111122223333:accesspoint/mine", resource{account, "eu-central-1", "accesspoint/mine"}},
		{"s3", "arn:aws:s3-outposts:eu-central-1:111122223333:outpost/op-1/accesspoint/mine", resource{account, "eu-central-1", "outpost/op-1/accesspoint/mine"}},
		{"sqs", "https://sqs.eu-central-1.amazonaws.com/111122223333/orders", resource{account, "", "orders"}},
		{"sqs", "https://sqs.eu-central-1.amazonaws.com/111122223333/", resource{name: "https://sqs.eu-central-1.amazonaws.com/111122223333/"}},
		{"sqs", "orders", resource{name: "orders"}},
		{"sqs", "/orders", resource{name: "/orders"}},
		{"lambda", "resize", resource{name: "resize"}},
		{"lambda", "resize:live", resource{name: "resize"}},
		{"lambda", "function:resize:$LATEST", resource{name: "resize"}},
		{"lambda", "111122223333:resize", resize},
		{"lambda", "111122223333:function:resize:7", resize},
		{"lambda", "eu-central-1:111122223333:function:resize", resource{account, "eu-central-1", "resize"}},
		{"lambda", "arn:aws:lambda:eu-central-1:111122223333:function:resize:live", resource{account, "eu-central-1", "resize"}},
		{"lambda", ":", resource{name: ":"}},
		// These are no ARNs.
		{"dynamodb", "arn:aws:dynamodb:eu-central-1:111122223333:", resource{name: "arn:aws:dynamodb:eu-central-1:111122223333:"}},
		{"dynamodb", "arn:aws:dynamodb:eu-central-1:1:table/orders", resource{name: "arn:aws:dynamodb:eu-central-1:1:table/orders"}},
		{"dynamodb", "arn:aws:dynamodb:eu-central-1:111122223333:table/", resource{name: "arn:aws:dynamodb:eu-central-1:111122223333:table/"}},
		{"kinesis", "arn:aws:kinesis:eu-central-1:111122223333:stream/", resource{name: "arn:aws:kinesis:eu-central-1:111122223333:stream/"}},
		{"dynamodb", "arn:aws", resource{name: "arn:aws"}},
		{"dynamodb", "", resource{}},
	} {
		require.Equal(t, c.want, parseResource(c.service, c.text), "%s %s", c.service, c.text)
	}
}

func TestAccountHasTwelveDigits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		account: true, "000000000000": true, "": false, "11112222333": false, "1111222233334": false, "11112222333x": false, "-11122223333": false,
	} {
		require.Equal(t, want, isAccount(text), text)
	}
}

// FuzzParseResource holds that what is found is in the text, and that the ARN of a name has this name.
func FuzzParseResource(f *testing.F) {
	f.Fuzz(func(t *testing.T, text string) {
		for _, service := range []string{"dynamodb", "dynamodb streams", "kinesis", "lambda", "s3", "sns", "sqs", "ec2"} {
			at := parseResource(service, text)
			require.Contains(t, text, at.account)
			require.Contains(t, text, at.region)
			require.Contains(t, text, at.name)
			require.True(t, at.account == "" || isAccount(at.account))
			require.Equal(t, text == "" || service == "sns" && strings.Contains(text, "/") && at == resource{}, at.name == "", "%s: %#v", service, at)
		}
		if text == "" || strings.ContainsAny(text, ":/") {
			return
		}
		for service, arn := range map[string]string{
			"dynamodb": "arn:aws:dynamodb:eu-central-1:111122223333:table/",
			"kinesis":  "arn:aws:kinesis:eu-central-1:111122223333:stream/",
			"lambda":   "arn:aws:lambda:eu-central-1:111122223333:function:",
			"sns":      "arn:aws:sns:eu-central-1:111122223333:",
		} {
			require.Equal(t, resource{account, "eu-central-1", text}, parseResource(service, arn+text))
			require.Equal(t, resource{name: text}, parseResource(service, text))
		}
		require.Equal(t, resource{account: account, name: text}, parseResource("sqs", "https://sqs.eu-central-1.amazonaws.com/111122223333/"+text))
	})
}
