package preload

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// credentials are what decides, together with a file, whether executing it changes privileges.
type credentials struct {
	uid, euid, gid, egid int
	noNewPrivileges      bool // set for the process: exec gives none
	noSetuid             bool // the file system is mounted nosuid
}

// privileges are what a file gives to the process that executes it.
type privileges struct {
	mode         uint32
	owner, group int
	capabilities bool
}

// change says how executing the file changes privileges, "" if it does not. It follows the kernel:
// what counts is whether the new effective ids differ from the old real ones. Then the loader is
// told to be careful (AT_SECURE), and takes no library from a path in LD_PRELOAD.
func (c credentials) change(file privileges) string {
	const setuid, setgid, groupExecute = 0o4000, 0o2000, 0o010
	euid, egid := c.euid, c.egid
	if !c.noNewPrivileges && !c.noSetuid {
		if file.mode&setuid != 0 {
			euid = file.owner
		}
		if file.mode&setgid != 0 && file.mode&groupExecute != 0 {
			egid = file.group
		}
		if file.capabilities && c.uid != 0 {
			return "has file capabilities"
		}
	}
	switch {
	case euid != c.uid && file.mode&setuid != 0:
		return "is setuid"
	case egid != c.gid && file.mode&setgid != 0:
		return "is setgid"
	case euid != c.uid || egid != c.gid:
		return "would run under an effective id that is not the real one"
	}
	return ""
}

// privilegesOf reads what a file gives, and the credentials that this process has for it.
func privilegesOf(name string) (privileges, credentials, error) {
	var about unix.Stat_t
	var system unix.Statfs_t
	if err := unix.Stat(name, &about); err != nil {
		return privileges{}, credentials{}, err
	}
	if err := unix.Statfs(name, &system); err != nil {
		return privileges{}, credentials{}, err
	}
	size, err := unix.Getxattr(name, "security.capability", nil)
	file := privileges{mode: about.Mode, owner: int(about.Uid), group: int(about.Gid),
		capabilities: err == nil && size > 0}
	noNew, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
	own := credentials{uid: os.Getuid(), euid: os.Geteuid(), gid: os.Getgid(), egid: os.Getegid(),
		noNewPrivileges: err == nil && noNew == 1, noSetuid: system.Flags&unix.ST_NOSUID != 0}
	return file, own, nil
}

func (p *program) checkPrivileges(verdict *Verdict) {
	file, own, err := privilegesOf(p.name)
	if err != nil {
		verdict.warn("%s; so I cannot tell whether it changes privileges", reasonOf(p.name, err))
		return
	}
	how := own.change(file)
	if how == "" {
		return
	}
	advice := "run it as the user it changes to, or run a copy without the privileges"
	switch name := filepath.Base(p.name); name {
	case "sudo", "su", "doas", "pkexec", "runuser":
		advice = "put it in front: " + name + " ... granary run -- PROGRAM"
	}
	verdict.refuse(StatusFailed, "%s %s, and for such programs the loader ignores LD_PRELOAD; %s",
		p.name, how, advice)
}
