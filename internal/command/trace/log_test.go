package trace_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/command/trace"
)

const accessLog = "operation,time,status,latency,host\n" +
	"PutItem,2026-11-25T10:00:01.5Z,503,0.02,a\n" +
	"GetItem,2026-11-25T10:00:00Z,200,12ms,b\n"

func TestAccessLogIsReadByItsColumns(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		accessLog, "\uFEFF" + accessLog, strings.ReplaceAll(accessLog, "\n", "\r\n"),
		"time,operation,status,latency\n100.5,GetItem,200,12ms\n102,PutItem,503,0.02\n",
	} {
		require.True(t, trace.IsLog([]byte(text)))
		got, err := trace.ReadLog("log.csv", []byte(text), "dynamodb")
		require.NoError(t, err)
		require.True(t, got.Log)
		require.Zero(t, got.Given.MaxBackoff)
		require.Equal(t, "dynamodb", got.Given.Service)
		require.Len(t, got.Operations, 2)
		first, second := got.Operations[0], got.Operations[1]
		require.Equal(t, "GetItem", first.Name)
		require.Equal(t, trace.Seconds(12*time.Millisecond), first.Latency)
		require.Equal(t, []trace.Response{{Status: 503}}, second.Responses)
		require.Equal(t, trace.Seconds(1500*time.Millisecond), second.Start-first.Start, "by their time")
		require.Equal(t, got.Start, first.Start)
	}
}

func TestBadAccessLogHasAnErrorWithItsPlace(t *testing.T) {
	t.Parallel()
	const head = "time,operation,status,latency\n"
	for text, want := range map[string]string{
		head:                                  "log.csv:2:1: there is no line below the names of the columns",
		head + "1,Get,200\n":                  "log.csv:2:1: not CSV: wrong number of fields",
		head + "1,Get,200,\"1\n":              "log.csv:2:14: not CSV: extraneous or missing \" in quoted-field",
		head + "soon,Get,200,1ms\n":           `log.csv:2:1: time: must be a time of RFC 3339 or seconds, not "soon"`,
		head + "-1,Get,200,1ms\n":             `log.csv:2:1: time: must be a time of RFC 3339 or seconds, not "-1"`,
		head + "1,Get,OK,1ms\n":               `log.csv:2:1: status: must be a status from 100 to 999, not "OK"`,
		head + "1,Get,99,1ms\n":               `log.csv:2:1: status: must be a status from 100 to 999, not "99"`,
		head + "1,Get,200,1\n2,Get,200,-1s\n": `log.csv:3:1: latency: must be seconds, or a time such as 12ms, from 0 to 1h, not "-1s"`,
		head + "1,Get,200,1\n2026-11-25T10:00:00Z,Get,200,1\n": "log.csv:3:1: time: must be a date in all lines, or seconds in all lines",
	} {
		_, err := trace.ReadLog("log.csv", []byte(text), "")
		require.EqualError(t, err, want)
	}
	require.False(t, trace.IsLog([]byte(`{"operations": []}`)))
	_, err := trace.ReadLog("log.csv", []byte("time,operation,status\n1,Get,200\n"), "")
	require.EqualError(t, err, `log.csv:1:1: there is no column "latency"`)
}

// FuzzReadLog holds that any text is a trace with operations in order, or an error with its place.
func FuzzReadLog(f *testing.F) {
	f.Add(accessLog)
	f.Add("time,operation,status,latency\n1,Get,200,1\n")
	f.Add("time,operation,status,latency\n1e9,\"a\nb\",200,1h\n0,,999,0\n")
	f.Add("time,operation,status,latency\n9000000001,Get,200,1\n")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := trace.ReadLog("log.csv", []byte(text), "")
		if err != nil {
			require.ErrorAs(t, err, new(*trace.Error))
			require.True(t, strings.HasPrefix(err.Error(), "log.csv:"), err)
			return
		}
		require.NotEmpty(t, got.Operations)
		last := got.Start
		for _, op := range got.Operations {
			require.GreaterOrEqual(t, op.Start, last)
			require.GreaterOrEqual(t, op.Latency, trace.Seconds(0))
			require.LessOrEqual(t, op.Start, trace.MaxTime+trace.Seconds(time.Second))
			last = op.Start
		}
	})
}
