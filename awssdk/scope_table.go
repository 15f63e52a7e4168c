package awssdk

import (
	"strings"

	"github.com/awsretry/awsretry/retry"
)

// scopeBy is what AWS counts a call by, within an account and a region.
type scopeBy uint8

const (
	byService   scopeBy = iota // all of the service together, also where AWS does not say
	byOperation                // each operation
	byReads                    // all operations that describe something together, and all others
	byResource                 // the resource that the input names
	byName                     // the same, where no two accounts have resources of one name
)

// scopedBy returns what AWS counts an operation by. An operation that is not here counts with all others of the service.
// "Quotas" are pages of that name in the guide of the service, "API Reference" is the page of the operation there.
func scopedBy(service, operation string) scopeBy {
	switch service {
	// EC2 Developer Guide, Request throttling: each API is evaluated individually. CloudWatch User Guide and CloudWatch
	// Logs User Guide, Quotas: so many a second for each. AWS General Reference, CloudTrail, EMR: rates of single
	// operations. Step Functions Developer Guide, Quotas: a bucket for each API action.
	case "ec2", "cloudwatch", "cloudwatch logs", "cloudtrail", "emr", "sfn":
		return byOperation

	// Elastic Load Balancing User Guide, Request throttling: one bucket for all Describe
	// operations of each version of the API, and others for those that change something.
	case "elastic load balancing", "elastic load balancing v2":
		return byReads

	case "dynamodb":
		return dynamoDBBy(operation)

	// API Reference: DescribeStream 10 and ListStreams 5 a second. Shards limit reading.
	case "dynamodb streams":
		if operation == "DescribeStream" || operation == "ListStreams" {
			return byOperation
		}
		return byResource

	// API Reference: a rate for each stream, shard or consumer of a stream in these operations,
	// and for each account in the others, such as DescribeStream with 10 a second.
	case "kinesis":
		switch operation {
		case "PutRecord", "PutRecords", "GetRecords", "GetShardIterator", "ListShards", "SubscribeToShard",
			"DescribeStreamConsumer", "DeregisterStreamConsumer", "ListStreamConsumers":
			return byResource
		}
		return byOperation

	// KMS Developer Guide, Request quotas: cryptographic operations share a quota, whatever the key; each other operation
	// has its own. The account is that of the caller, also where the key is in another one.
	case "kms":
		switch operation {
		case "Decrypt", "Encrypt", "ReEncrypt", "GenerateDataKey", "GenerateDataKeyWithoutPlaintext", "GenerateRandom",
			"Sign", "Verify", "GenerateMac", "VerifyMac", "DeriveSharedSecret", "Encapsulate", "Decapsulate":
			return byService
		}
		return byOperation

	// Lambda Developer Guide, Quotas: invocations by concurrency, which a function may have for
	// itself; GetFunction 100 and GetPolicy 15 a second, and 15 a second for the rest of the
	// control plane together. Operations of durable functions have rows of their own.
	case "lambda":
		switch operation {
		case "Invoke", "InvokeAsync", "InvokeWithResponseStream":
			return byResource
		case "GetFunction", "GetPolicy":
			return byOperation
		}
		if strings.Contains(operation, "DurableExecution") {
			return byOperation
		}
		return byService

	// S3 User Guide, Optimizing performance: so many a second for each prefix in a bucket.
	case "s3":
		return byName

	// SNS API Reference, CreateTopic: a FIFO topic has a throughput of its own. AWS General
	// Reference, SNS: standard topics of an account share one, which is wider than what is
	// chosen here; other operations have a rate each, such as Subscribe with 100 a second.
	case "sns":
		if operation == "Publish" || operation == "PublishBatch" {
			return byResource
		}
		return byOperation

	// SQS Developer Guide, Quotas: so many a second for each FIFO queue, and in-flight messages for each queue.
	case "sqs":
		return byResource
	}
	return byService
}

// dynamoDBBy follows the DynamoDB Developer Guide, Quotas: throughput is that of tables. Operations that describe or change
// tables count together, whatever the table. API Reference: operations for backups and tags have a rate each.
func dynamoDBBy(operation string) scopeBy {
	switch operation {
	case "GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query", "Scan",
		"BatchGetItem", "BatchWriteItem", "TransactGetItems", "TransactWriteItems":
		return byResource
	case "CreateBackup", "DeleteBackup", "DescribeBackup", "ListBackups", "DescribeContinuousBackups", "RestoreTableFromBackup",
		"TagResource", "UntagResource", "ListTagsOfResource":
		return byOperation
	}
	return byService
}

// regionOf returns the region whose limits count. A global service counts the calls of all regions of a partition together,
// so they get one name, such as "aws-global". That is what the SDK calls the region of a global endpoint. The services are
// those that the AWS whitepaper Fault Isolation Boundaries calls global, and those with one endpoint for all regions in the
// AWS General Reference.
func regionOf(service, region string) string {
	switch service {
	case "account", "budgets", "cloudfront", "cost explorer", "global accelerator", "iam", "networkmanager", "organizations",
		"route 53", "savingsplans", "shield", "support", "waf":
	default:
		return region
	}
	for _, partition := range [...]struct{ regions, name string }{
		{"cn-", "aws-cn-global"},
		{"us-gov-", "aws-us-gov-global"},
		{"us-iso-", "aws-iso-global"},
		{"us-isob-", "aws-iso-b-global"},
		{"eu-isoe-", "aws-iso-e-global"},
		{"us-isof-", "aws-iso-f-global"},
		{"eusc-", "aws-eusc-global"},
	} {
		if strings.HasPrefix(region, partition.regions) || region == partition.name {
			return partition.name
		}
	}
	return "aws-global"
}

// setScope sets in op what AWS counts the call by. The account is that of the credentials, if it is known.
func (r *sdkRetryer) setScope(op *retry.Operation, input any, account string) {
	op.Region = regionOf(op.Service, op.Region)
	var text string
	var at resource
	switch by := scopedBy(op.Service, op.Name); by {
	case byOperation:
		op.Resource = op.Name
	case byReads:
		if strings.HasPrefix(op.Name, "Describe") {
			op.Resource = "Describe*"
		}
	case byResource, byName:
		text = r.resourceOf(op.Service, input)
		at = parseResource(op.Service, text)
		op.Resource = at.name
		if at.region != "" {
			op.Region = at.region
		}
		if by == byName && at.name != "" && at.account == "" {
			return
		}
	case byService:
	}
	own := r.given(op.Service)
	switch {
	case own != "":
		if at.account != "" && at.account != own {
			op.Resource = text // WithAccount counts more, and the whole text tells the accounts apart
		}
	case at.account != "" && !alsoByName(op.Service):
		own = at.account
	default:
		if own = account; at.account != "" && (own != "" || !r.accounts.isHome(at.account)) {
			own = at.account
		}
	}
	op.Account = own
}
