package report

import (
	"fmt"
	"sort"
	"strings"
)

// settings.go: Unity's memory settings, and the two forms in which a proposal is written down.

const settingPrefix = "memorysetup-"

// Unit of a setting's value.
const (
	unitBytes = iota
	unitCount
)

// settingInfo describes one of Unity's settings.
type settingInfo struct {
	key    string // behind "memorysetup-"
	asset  string // in ProjectSettings/MemorySettings.asset
	label  string // in Project Settings > Memory Settings
	player int64  // default in players
	editor int64  // default in the Editor
	unit   int
}

// settingTable is in the order of MemorySettings.asset.
var settingTable = []settingInfo{
	{"main-allocator-block-size", "m_MainAllocatorBlockSize",
		"Main Allocators: Main Thread Block Size", 16 << 20, 16 << 20, unitBytes},
	{"thread-allocator-block-size", "m_ThreadAllocatorBlockSize",
		"Main Allocators: Shared Thread Block Size", 16 << 20, 16 << 20, unitBytes},
	{"gfx-main-allocator-block-size", "m_MainGfxBlockSize",
		"Gfx Allocators: Main Thread Block Size", 16 << 20, 16 << 20, unitBytes},
	{"gfx-thread-allocator-block-size", "m_ThreadGfxBlockSize",
		"Gfx Allocators: Shared Thread Block Size", 16 << 20, 16 << 20, unitBytes},
	{"cache-allocator-block-size", "m_CacheBlockSize",
		"Extra Allocators: File Cache Block Size", 4 << 20, 4 << 20, unitBytes},
	{"typetree-allocator-block-size", "m_TypetreeBlockSize",
		"Extra Allocators: Type Tree Block Size", 2 << 20, 2 << 20, unitBytes},
	{"profiler-allocator-block-size", "m_ProfilerBlockSize",
		"Profiler Allocators: Profiler Block Size", 16 << 20, 16 << 20, unitBytes},
	{"profiler-editor-allocator-block-size", "m_ProfilerEditorBlockSize",
		"Profiler Allocators: Editor Profiler Block Size", 1 << 20, 1 << 20, unitBytes},
	{"bucket-allocator-granularity", "m_BucketAllocatorGranularity",
		"Shared Bucket Allocator: Granularity", 16, 16, unitBytes},
	{"bucket-allocator-bucket-count", "m_BucketAllocatorBucketsCount",
		"Shared Bucket Allocator: Bucket Count", 8, 8, unitCount},
	{"bucket-allocator-block-size", "m_BucketAllocatorBlockSize",
		"Shared Bucket Allocator: Block Size", 4 << 20, 32 << 20, unitBytes},
	{"bucket-allocator-block-count", "m_BucketAllocatorBlockCount",
		"Shared Bucket Allocator: Block Count", 1, 8, unitCount},
	{"profiler-bucket-allocator-granularity", "m_ProfilerBucketAllocatorGranularity",
		"Shared Profiler Bucket Allocator: Granularity", 16, 16, unitBytes},
	{"profiler-bucket-allocator-bucket-count", "m_ProfilerBucketAllocatorBucketsCount",
		"Shared Profiler Bucket Allocator: Bucket Count", 8, 8, unitCount},
	{"profiler-bucket-allocator-block-size", "m_ProfilerBucketAllocatorBlockSize",
		"Shared Profiler Bucket Allocator: Block Size", 4 << 20, 32 << 20, unitBytes},
	{"profiler-bucket-allocator-block-count", "m_ProfilerBucketAllocatorBlockCount",
		"Shared Profiler Bucket Allocator: Block Count", 1, 8, unitCount},
	{"temp-allocator-size-main", "m_TempAllocatorSizeMain",
		"Fast Per Thread Temporary Allocators: Main Thread Block Size", 4 << 20, 16 << 20, unitBytes},
	{"job-temp-allocator-block-size", "m_JobTempAllocatorBlockSize",
		"Fast Thread Shared Temporary Allocators: Job Allocator Block Size",
		2 << 20, 2 << 20, unitBytes},
	{"job-temp-allocator-block-size-background", "m_BackgroundJobTempAllocatorBlockSize",
		"Fast Thread Shared Temporary Allocators: Background Job Allocator Block Size",
		1 << 20, 1 << 20, unitBytes},
	{"job-temp-allocator-reduction-small-platforms", "m_JobTempAllocatorReducedBlockSize",
		"Fast Thread Shared Temporary Allocators: Job Allocator Block Sizes on low memory platform",
		256 << 10, 256 << 10, unitBytes},
	{"temp-allocator-size-gi-baking-worker", "m_TempAllocatorSizeGIBakingWorker",
		"Fast Per Thread Temporary Allocators: GI Baking Block Size",
		256 << 10, 256 << 10, unitBytes},
	{"temp-allocator-size-nav-mesh-worker", "m_TempAllocatorSizeNavMeshWorker",
		"Fast Per Thread Temporary Allocators: NavMesh Worker Block Size",
		64 << 10, 64 << 10, unitBytes},
	{"temp-allocator-size-audio-worker", "m_TempAllocatorSizeAudioWorker",
		"Fast Per Thread Temporary Allocators: Audio Worker Block Size",
		64 << 10, 64 << 10, unitBytes},
	{"temp-allocator-size-cloud-worker", "m_TempAllocatorSizeCloudWorker",
		"Fast Per Thread Temporary Allocators: Cloud Worker Block Size",
		32 << 10, 32 << 10, unitBytes},
	{"temp-allocator-size-gfx", "m_TempAllocatorSizeGfx",
		"Fast Per Thread Temporary Allocators: Gfx Thread Block Size",
		256 << 10, 256 << 10, unitBytes},
	{"temp-allocator-size-job-worker", "m_TempAllocatorSizeJobWorker",
		"Fast Per Thread Temporary Allocators: Job Worker Block Size",
		256 << 10, 256 << 10, unitBytes},
	{"temp-allocator-size-background-worker", "m_TempAllocatorSizeBackgroundWorker",
		"Fast Per Thread Temporary Allocators: Background Job Worker Block Size",
		32 << 10, 32 << 10, unitBytes},
	{"temp-allocator-size-preload-manager", "m_TempAllocatorSizePreloadManager",
		"Fast Per Thread Temporary Allocators: Preload Block Size",
		256 << 10, 32 << 20, unitBytes},
}

func settingByKey(key string) *settingInfo {
	key = strings.TrimPrefix(key, settingPrefix)
	for i := range settingTable {
		if settingTable[i].key == key {
			return &settingTable[i]
		}
	}
	return nil
}

// fallback is the default in programs of that kind.
func (s *settingInfo) fallback(build Build) int64 {
	if build == BuildEditor {
		return s.editor
	}
	return s.player
}

// Action is one proposed setting.
type Action struct {
	Key   string `json:"key"` // with "memorysetup-" in front
	Value int64  `json:"value"`
	Was   int64  `json:"was,omitempty"` // the value in force, 0 if the log does not tell
	Where string `json:"where"`         // the field in Project Settings > Memory Settings
	Asset string `json:"asset"`         // the key in ProjectSettings/MemorySettings.asset
}

// BootLine is the action as a line of boot.config.
func (a Action) BootLine() string { return fmt.Sprintf("%s=%d", a.Key, a.Value) }

func newAction(key string, value, was int64) Action {
	info := settingByKey(key)
	if info == nil {
		panic("BUG: no setting is called " + key)
	}
	return Action{Key: settingPrefix + info.key, Value: value, Was: was, Where: info.label,
		Asset: info.asset}
}

// Proposals gathers the actions of all findings, each key once: the finding that comes first wins.
// Findings that are only information propose nothing.
func Proposals(findings []Finding) []Action {
	var actions []Action
	seen := map[string]bool{}
	for _, f := range findings {
		if f.Severity < Advice {
			continue
		}
		for _, a := range f.Actions {
			if !seen[a.Key] {
				seen[a.Key] = true
				actions = append(actions, a)
			}
		}
	}
	sort.SliceStable(actions, func(i, j int) bool { return actions[i].Key < actions[j].Key })
	return actions
}

// BootConfig writes the proposals as lines of boot.config.
func BootConfig(actions []Action) string {
	var b strings.Builder
	for _, a := range actions {
		b.WriteString(a.BootLine())
		b.WriteByte('\n')
	}
	return b.String()
}

// Platforms are the names `--settings` takes, with the number that MemorySettings.asset uses.
var Platforms = map[string]int{"standalone": 1, "ios": 4, "android": 7, "webgl": 13, "editor": 0}

// SettingsAsset writes the proposals as the part of ProjectSettings/MemorySettings.asset that holds
// the values of one platform; -1 is Unity's way to say "the default".
func SettingsAsset(actions []Action, platform string) (string, error) {
	group, ok := Platforms[platform]
	if !ok {
		return "", fmt.Errorf("unknown platform %q: use standalone, ios, android, webgl or editor",
			platform)
	}
	var b strings.Builder
	indent := "    "
	if platform == "editor" {
		b.WriteString("  m_EditorMemorySettings:\n")
	} else {
		fmt.Fprintf(&b, "  m_PlatformMemorySettings:\n    %d:\n", group)
		indent = "      "
	}
	for i := range settingTable {
		value := int64(-1)
		for _, a := range actions {
			if a.Asset == settingTable[i].asset {
				value = a.Value
			}
		}
		fmt.Fprintf(&b, "%s%s: %d\n", indent, settingTable[i].asset, value)
	}
	return b.String(), nil
}
