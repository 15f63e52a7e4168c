package limit

import (
	"context"

	"github.com/awsretry/awsretry/ratelimit"
)

// Queue puts a caller in the line that never looks whether it has been served. It returns what makes the
// caller leave.
func (l *Line) Queue(r ratelimit.Request) (leave func()) {
	_, w, err := l.enter(context.Background(), &r)
	if w == nil {
		panic(err)
	}
	return func() {
		now := l.Lock()
		w.giveUpLocked(now)
		l.Serve(now, false)
	}
}
