module github.com/awsretry/awsretry

go 1.26.0

require (
	github.com/stretchr/testify v1.12.1
	gopkg.in/ini.v1 v1.67.3
)

require go.yaml.in/yaml/v3 v3.0.5 // indirect
