package bench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func touch(t *testing.T, path string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAllocatorsAreFoundInDirectoriesAndThenInTheLoaderCache(t *testing.T) {
	folder := t.TempDir()
	libc := touch(t, filepath.Join(folder, "libc.so.6"))
	mimalloc := touch(t, filepath.Join(folder, "libmimalloc.so.2"))
	granary := touch(t, filepath.Join(folder, "built", "libgranary.so"))
	places := Places{
		Directories: []string{filepath.Join(folder, "absent"), folder},
		LoaderCache: "2 libs found in cache `/etc/ld.so.cache'\n" +
			"\tlibjemalloc.so.2 (libc6,x86-64) => /elsewhere/libjemalloc.so.2\n" +
			"\tlibmimalloc.so.2 (libc6,x86-64) => /elsewhere/libmimalloc.so.2\n",
		Granary: granary,
	}
	found, err := FindAllocators([]string{"glibc", "jemalloc", "mimalloc", "granary"}, places)
	if err != nil {
		t.Fatal(err)
	}
	want := []Allocator{
		{Name: "glibc", Library: libc},
		{Name: "jemalloc", Library: "/elsewhere/libjemalloc.so.2"},
		{Name: "mimalloc", Library: mimalloc},
		{Name: "granary", Library: granary},
	}
	for i := range want {
		if found[i] != want[i] {
			t.Errorf("found %+v, want %+v", found[i], want[i])
		}
	}
}

func TestMissingAllocatorsAreNamedWithTheirPackagesAllAtOnce(t *testing.T) {
	_, err := FindAllocators(AllocatorNames(), Places{Granary: "/absent/libgranary.so"})
	if err == nil {
		t.Fatal("nothing is there, but no error was returned")
	}
	for _, words := range []string{
		"apt-get install libjemalloc2", "apt-get install libtcmalloc-minimal4",
		"apt-get install libmimalloc2.0", "run make first",
	} {
		if !strings.Contains(err.Error(), words) {
			t.Errorf("the error does not say %q:\n%v", words, err)
		}
	}
}

func TestAnUnknownAllocatorIsRefusedWithTheListOfKnownOnes(t *testing.T) {
	_, err := FindAllocators([]string{"hoard"}, Places{})
	known := "glibc, jemalloc, tcmalloc, mimalloc, granary"
	if err == nil || !strings.Contains(err.Error(), known) {
		t.Fatalf("got %v", err)
	}
}

func TestAnotherLibraryWithTheSamePrefixIsNotTaken(t *testing.T) {
	cache := "\tlibtcmalloc_minimal.so.44 (libc6) => /x/libtcmalloc_minimal.so.44\n"
	if path := fromLoaderCache(cache, "libtcmalloc_minimal.so.4"); path != "" {
		t.Errorf("took %s", path)
	}
}

func TestGranaryTellsItsVersion(t *testing.T) {
	text := "other line\ngranary: 1.2.3 in pid 17 (cat)\n"
	if version := granaryVersion(text); version != "1.2.3" {
		t.Errorf("read %q", version)
	}
	if version := granaryVersion("granary: free(0x1): is no block\n"); version != "unknown" {
		t.Errorf("read %q from a message that is no version", version)
	}
}
