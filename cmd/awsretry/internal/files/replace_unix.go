//go:build unix

package files

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a file the owner of another one.
func keepOwner(file *os.File, of fs.FileInfo) error {
	owner, ok := of.Sys().(*syscall.Stat_t)
	if !ok || int(owner.Uid) == os.Geteuid() && int(owner.Gid) == os.Getegid() {
		return nil
	}
	return file.Chown(int(owner.Uid), int(owner.Gid))
}
