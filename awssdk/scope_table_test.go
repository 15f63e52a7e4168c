package awssdk

import (
	"context"
	"testing"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// inCall calls f with the context of a call of the SDK.
func inCall(service, region, operation string, f func(ctx context.Context)) {
	metadata := &awsmiddleware.RegisterServiceMetadata{ServiceID: service, Region: region, OperationName: operation}
	_, _, _ = metadata.HandleInitialize(context.Background(), middleware.InitializeInput{}, middleware.InitializeHandlerFunc(
		func(ctx context.Context, _ middleware.InitializeInput) (out middleware.InitializeOutput, metadata middleware.Metadata, err error) {
			f(ctx)
			return out, metadata, nil
		}))
}

// TestScopesOfServicesWithoutResources names services as the SDK does. lab/sdktest has clients of the
// services with resources.
func TestScopesOfServicesWithoutResources(t *testing.T) {
	t.Parallel()
	made, err := standard.New(standard.Config{})
	require.NoError(t, err)
	r := retryer(t, made)
	for _, c := range []struct{ service, region, operation, want string }{
		{"EC2", "eu-central-1", "DescribeInstances", "ec2/eu-central-1/DescribeInstances"},
		{"EC2", "eu-central-1", "RunInstances", "ec2/eu-central-1/RunInstances"},
		{"CloudWatch", "eu-central-1", "GetMetricData", "cloudwatch/eu-central-1/GetMetricData"},
		{"CloudWatch Logs", "eu-central-1", "PutLogEvents", "cloudwatch logs/eu-central-1/PutLogEvents"},
		{"CloudTrail", "eu-central-1", "LookupEvents", "cloudtrail/eu-central-1/LookupEvents"},
		{"EMR", "eu-central-1", "DescribeCluster", "emr/eu-central-1/DescribeCluster"},
		{"SFN", "eu-central-1", "StartExecution", "sfn/eu-central-1/StartExecution"},
		{"Elastic Load Balancing", "eu-central-1", "DescribeLoadBalancers", "elastic load balancing/eu-central-1/Describe*"},
		{"Elastic Load Balancing v2", "eu-central-1", "DescribeRules", "elastic load balancing v2/eu-central-1/Describe*"},
		{"Elastic Load Balancing v2", "eu-central-1", "RegisterTargets", "elastic load balancing v2/eu-central-1"},
		{"STS", "eu-central-1", "AssumeRole", "sts/eu-central-1"},
		{"ECS", "eu-central-1", "RunTask", "ecs/eu-central-1"},
		{"IAM", "eu-central-1", "GetRole", "iam/aws-global"},
		{"IAM", "us-east-1", "GetRole", "iam/aws-global"},
		{"IAM", "aws-global", "GetRole", "iam/aws-global"},
		{"IAM", "", "GetRole", "iam/aws-global"},
		{"IAM", "cn-north-1", "GetRole", "iam/aws-cn-global"},
		{"IAM", "aws-cn-global", "GetRole", "iam/aws-cn-global"},
		{"IAM", "us-gov-west-1", "GetRole", "iam/aws-us-gov-global"},
		{"IAM", "us-iso-east-1", "GetRole", "iam/aws-iso-global"},
		{"IAM", "us-isob-east-1", "GetRole", "iam/aws-iso-b-global"},
		{"IAM", "eu-isoe-west-1", "GetRole", "iam/aws-iso-e-global"},
		{"IAM", "us-isof-south-1", "GetRole", "iam/aws-iso-f-global"},
		{"IAM", "eusc-de-east-1", "GetRole", "iam/aws-eusc-global"},
		{"Route 53", "eu-central-1", "ListHostedZones", "route 53/aws-global"},
		{"Account", "eu-central-1", "GetContactInformation", "account/aws-global"},
		{"Budgets", "eu-central-1", "DescribeBudgets", "budgets/aws-global"},
		{"CloudFront", "eu-central-1", "ListDistributions", "cloudfront/aws-global"},
		{"Cost Explorer", "eu-central-1", "GetCostAndUsage", "cost explorer/aws-global"},
		{"Global Accelerator", "us-west-2", "ListAccelerators", "global accelerator/aws-global"},
		{"NetworkManager", "eu-central-1", "GetSites", "networkmanager/aws-global"},
		{"Organizations", "eu-central-1", "ListAccounts", "organizations/aws-global"},
		{"savingsplans", "eu-central-1", "DescribeSavingsPlans", "savingsplans/aws-global"},
		{"Shield", "eu-central-1", "ListProtections", "shield/aws-global"},
		{"Support", "eu-central-1", "DescribeCases", "support/aws-global"},
		{"WAF", "eu-central-1", "ListRules", "waf/aws-global"},
		{"Kinesis", "eu-central-1", "DescribeStream", "kinesis/eu-central-1/DescribeStream"}, // a plain retryer has no input
		{"Kinesis", "eu-central-1", "PutRecord", "kinesis/eu-central-1"},
		{"S3", "eu-central-1", "GetObject", "s3/eu-central-1"},
	} {
		var op retry.Operation
		inCall(c.service, c.region, c.operation, func(ctx context.Context) { op = r.operationOf(ctx, nil, attemptHeader{}, "") })
		require.Equal(t, c.want, op.Key().String())
		require.Equal(t, c.operation, op.Name)
	}
}

// TestScopeOfACallAllocatesNothing runs alone: other tests allocate too.
func TestScopeOfACallAllocatesNothing(t *testing.T) {
	made, err := standard.New(standard.Config{})
	require.NoError(t, err)
	r := retryer(t, made).forService("DynamoDB")
	for _, table := range []string{"orders", "arn:aws:dynamodb:eu-central-1:111122223333:table/orders"} {
		in := &getItemInput{TableName: &table}
		var op retry.Operation
		inCall("DynamoDB", "eu-central-1", "GetItem", func(ctx context.Context) {
			require.Zero(t, testing.AllocsPerRun(100, func() { op = r.operationOf(ctx, in, attemptHeader{number: 1, limit: 3}, account) }), table)
		})
		require.Equal(t, retry.Operation{
			Account: account, Service: "dynamodb", Region: "eu-central-1", Name: "GetItem", Resource: "orders", MaxAttempts: 3,
		}, op)
	}
}
