package sdktest

import (
	"context"
	"fmt"
	"log"
	"reflect"

	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/metrics"
	"github.com/aws/smithy-go/metrics/smithyotelmetrics"
	"github.com/aws/smithy-go/tracing"
	"github.com/aws/smithy-go/tracing/smithyoteltracing"
	"go.opentelemetry.io/otel"

	"github.com/awsretry/awsretry/awssdk"
)

// All clients of a config have the metrics and traces of the SDK.
func Example_providers() {
	cfg, err := awssdk.LoadDefaultConfig(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	provide := provideAll(smithyotelmetrics.Adapt(otel.GetMeterProvider()), smithyoteltracing.Adapt(otel.GetTracerProvider()))
	cfg.ServiceOptions = append(cfg.ServiceOptions, provide)

	fmt.Println(sts.NewFromConfig(cfg).Options().MeterProvider == metrics.NopMeterProvider{})
	// Output: false
}

func provideAll(meters metrics.MeterProvider, tracers tracing.TracerProvider) func(string, any) {
	return func(_ string, options any) {
		client := reflect.ValueOf(options).Elem() // such as dynamodb.Options
		if field := client.FieldByName("MeterProvider"); field.IsValid() {
			field.Set(reflect.ValueOf(meters))
		}
		if field := client.FieldByName("TracerProvider"); field.IsValid() {
			field.Set(reflect.ValueOf(tracers))
		}
	}
}
