module github.com/awsretry/awsretry/proptest

go 1.26.0

require (
	github.com/awsretry/awsretry v0.1.0
	github.com/stretchr/testify v1.12.1
	go.yaml.in/yaml/v3 v3.0.5
	pgregory.net/rapid v1.3.0
)

require gopkg.in/ini.v1 v1.67.3 // indirect

replace github.com/awsretry/awsretry => ../
