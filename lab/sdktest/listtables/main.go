// Command listtables lists the DynamoDB tables of an account, with a strategy of awsretry.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/awsretry/awsretry/awssdk"
)

func main() {
	ctx := context.Background()
	cfg, err := awssdk.LoadDefaultConfig(ctx)
	if err != nil {
		log.Fatal(err)
	}
	tables, err := dynamodb.NewFromConfig(cfg).ListTables(ctx, &dynamodb.ListTablesInput{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tables.TableNames)
}
