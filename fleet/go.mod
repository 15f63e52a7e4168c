module github.com/awsretry/awsretry/fleet

go 1.26.0

require github.com/awsretry/awsretry v0.1.0

replace github.com/awsretry/awsretry => ../
