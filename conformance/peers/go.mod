module github.com/awsretry/awsretry/conformance/peers

go 1.26.0

require github.com/awsretry/awsretry/conformance v0.1.0

require (
	github.com/aws/aws-sdk-go-v2 v1.47.7 // indirect
	github.com/aws/smithy-go v1.28.8 // indirect
	github.com/awsretry/awsretry v0.1.0 // indirect
)

replace (
	github.com/awsretry/awsretry => ../../
	github.com/awsretry/awsretry/awssdk => ../../awssdk
	github.com/awsretry/awsretry/conformance => ../
)
