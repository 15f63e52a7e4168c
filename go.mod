module github.com/awsretry/awsretry

go 1.26.0

require (
	github.com/stretchr/testify v1.12.1 // indirect
	gopkg.in/ini.v1 v1.67.3 // indirect
)
