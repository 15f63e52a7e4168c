package config

import "errors"

// MaxFileSize is the limit on the size of a shared file in bytes, 16 MiB. A file
// that is larger is refused, unread.
const MaxFileSize = 16 << 20

// Files is the two shared files as they were read. It keeps their contents, so
// nothing changes under whoever asks it twice, and shows them to nobody.
type Files struct {
	data func() *filesData // A function, since no verb of fmt looks behind one.
}

// filesData is the config file and the credentials file, in this order.
type filesData struct {
	files [2]sharedFile
	diags []Diagnostic
}

// sharedFile is one of the two files.
type sharedFile struct {
	status FileStatus
	bytes  []byte
}

// Open finds and reads the two shared files. A file that is missing or cannot
// be read counts as empty, which Status and Diagnostics tell. A file that cannot
// be read is a *[UnreadableError] if its path came from code; one that is larger
// than [MaxFileSize] always is. The contents are not looked at yet.
func Open(src Sources) (*Files, error) {
	loc := locator{src: src}
	data := &filesData{}
	for i, place := range []location{loc.config(), loc.credentials()} {
		bytes, err := src.read(place.path)
		if unreadable, ok := errors.AsType[*UnreadableError](err); ok {
			unreadable.Kind = place.kind
			if errors.Is(err, ErrTooLarge) || place.origin.Kind == OriginOption {
				return nil, err
			}
		}
		data.files[i] = sharedFile{status: place.status(err), bytes: bytes}
		data.diags = append(data.diags, place.diagnose(err)...)
	}
	data.diags = append(loc.diagnose(), data.diags...)
	return &Files{data: func() *filesData { return data }}, nil
}

// Status tells what became of the two files: config, then credentials.
func (f *Files) Status() []FileStatus {
	return []FileStatus{f.data().files[0].status, f.data().files[1].status}
}

// Diagnostics are the findings about finding and reading the files.
func (f *Files) Diagnostics() []Diagnostic {
	return append([]Diagnostic(nil), f.data().diags...)
}
