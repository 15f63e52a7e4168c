// Package models reads the models of AWS services, and writes the tables of package classify and of internal/wire from them:
//
//	go test ./models -botocore DIR
//
// DIR is the directory of an installed botocore package. In testdata is what the models say of throttles, quotas and failures of
// entries, and what each of that means. A test fails as long as the meaning of something is "?".
package models
