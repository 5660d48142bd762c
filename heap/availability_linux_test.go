package heap

import (
	"os"
	"path/filepath"
	"testing"
)

func TestTheLeastLimitOfACgroupAndThoseAboveItCounts(t *testing.T) {
	for _, c := range []struct {
		what   string
		groups string
		files  map[string]string
		want   uint64
	}{
		{"version 2", "0::/a/b\n", map[string]string{"a/memory.max": "1000\n", "a/b/memory.max": "max\n"}, 1000},
		{"version 2, inner", "0::/a/b\n", map[string]string{"a/memory.max": "1000\n", "a/b/memory.max": "70\n"}, 70},
		{"a container", "0::/host/path\n", map[string]string{"memory.max": "5000\n"}, 5000},
		{"version 1", "5:cpu:/x\n7:memory:/y\n",
			map[string]string{"memory/y/memory.limit_in_bytes": "300\n",
				"memory/memory.limit_in_bytes": "9223372036854771712\n"}, 300},
		{"no limit", "0::/a\n", map[string]string{"a/memory.max": "max\n"}, 0},
		{"nothing readable", "nonsense\n", nil, 0},
	} {
		root := t.TempDir()
		for name, text := range c.files {
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := cgroupLimit(root, []byte(c.groups)); got != c.want {
			t.Errorf("%s: %d, want %d", c.what, got, c.want)
		}
	}
}
