//go:build kernels

package kernels

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"sort"
)

// initramfs is what is packed for the guest, by absolute path there.
type initramfs struct {
	files   map[string][]byte
	folders map[string]bool
}

func newInitramfs(folders ...string) *initramfs {
	a := &initramfs{files: make(map[string][]byte), folders: make(map[string]bool)}
	for _, folder := range folders {
		a.addFolder(folder)
	}
	return a
}

func (a *initramfs) addFolder(folder string) {
	for ; folder != "/"; folder = path.Dir(folder) {
		a.folders[folder] = true
	}
}

func (a *initramfs) add(name string, content []byte) {
	a.addFolder(path.Dir(name))
	a.files[name] = content
}

// addFile packs a file of this machine, with what symbolic links lead to in place of them.
func (a *initramfs) addFile(name, source string) error {
	content, err := os.ReadFile(source)
	if err == nil {
		a.add(name, content)
	}
	return err
}

// bytes is the archive in the kernel's format, "newc" of cpio. Folders come before what is in them.
func (a *initramfs) bytes() []byte {
	const folderMode, fileMode, consoleMode = 0o040755, 0o100755, 0o020600
	var out bytes.Buffer
	count := 0
	entry := func(name string, mode, major, minor int, content []byte) {
		count++
		fmt.Fprintf(&out, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x", count, mode, 0, 0, 1, 0,
			len(content), 0, 0, major, minor, len(name)+1, 0)
		out.WriteString(name + "\x00")
		pad(&out)
		out.Write(content)
		pad(&out)
	}
	for _, folder := range sorted(a.folders) {
		entry(folder[1:], folderMode, 0, 0, nil)
	}
	entry("dev/console", consoleMode, 5, 1, nil)
	for _, name := range sorted(a.files) {
		entry(name[1:], fileMode, 0, 0, a.files[name])
	}
	entry("TRAILER!!!", 0, 0, 0, nil)
	return out.Bytes()
}

func pad(out *bytes.Buffer) {
	for out.Len()%4 != 0 {
		out.WriteByte(0)
	}
}

func sorted[V any](set map[string]V) []string {
	var names []string
	for name := range set {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
