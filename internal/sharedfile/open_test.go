package sharedfile_test

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/sharedfile"
)

func TestFileInUTF16IsEmpty(t *testing.T) {
	t.Parallel()
	for text, utf16 := range map[string]bool{
		"\xff\xfe[\x00a\x00]\x00": true, "\xfe\xff\x00[\x00a\x00]": true, "[\x00a\x00]\x00": true, "\x00[\x00a\x00]": true,
		"\xff\xfe[a]\n": false, "\xfe\xff[a]\n": false, "[a]\x00\n": false, "[\x00a]\n": false, "\x00[a]\n": false, "\x00\x00[\x00": false, "[\x00": false,
	} {
		pair := sharedfile.Open(sharedfile.Sources{ConfigFile: "/c", CredentialsFile: "/none", FS: fstest.MapFS{"c": {Data: []byte(text)}}})
		require.Equal(t, utf16, pair.Files[0].UTF16, "%q", text)
		require.Equal(t, utf16, pair.Files[0].Data == "", "%q", text)
	}
}
