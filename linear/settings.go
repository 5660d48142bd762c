package linear

import (
	"fmt"
	"strconv"
	"strings"
)

// Settings are the sizes of a System, in bytes, and what it reports. They are read from the switches that Unity has,
// on a command line or in the text of a boot.config.
type Settings struct {
	JobTempBlock    int // -memorysetup-job-temp-allocator-block-size
	BackgroundBlock int // -memorysetup-job-temp-allocator-block-size-background
	ReducedBlock    int // -memorysetup-job-temp-allocator-reduction-small-platforms

	// The first sizes of stacks: -memorysetup-temp-allocator-size-...
	StackMain             int // ...main
	StackJobWorker        int // ...job-worker
	StackBackgroundWorker int // ...background-worker
	StackPreloadManager   int // ...preload-manager
	StackAudioWorker      int // ...audio-worker
	StackCloudWorker      int // ...cloud-worker
	StackGfx              int // ...gfx
	StackGIBakingWorker   int // ...gi-baking-worker
	StackNavMeshWorker    int // ...nav-mesh-worker

	LogStats    bool // -log-memory-performance-stats: Close prints the report
	Diagnostics bool // -diag-job-temp-memory-leak-validation
}

const kib, mib = 1 << 10, 1 << 20

// DefaultSettings are those that a player of Unity has.
func DefaultSettings() Settings {
	return Settings{
		JobTempBlock:          2 * mib,
		BackgroundBlock:       1 * mib,
		ReducedBlock:          256 * kib,
		StackMain:             4 * mib,
		StackJobWorker:        256 * kib,
		StackBackgroundWorker: 32 * kib,
		StackPreloadManager:   256 * kib,
		StackAudioWorker:      64 * kib,
		StackCloudWorker:      32 * kib,
		StackGfx:              256 * kib,
		StackGIBakingWorker:   256 * kib,
		StackNavMeshWorker:    64 * kib,
	}
}

const (
	setupPrefix    = "memorysetup-"
	logStatsSwitch = "log-memory-performance-stats"
	diagnoseSwitch = "diag-job-temp-memory-leak-validation"
)

// sizes are the switches that set a size, without setupPrefix.
func (s *Settings) sizes() map[string]*int {
	return map[string]*int{
		"job-temp-allocator-block-size":                &s.JobTempBlock,
		"job-temp-allocator-block-size-background":     &s.BackgroundBlock,
		"job-temp-allocator-reduction-small-platforms": &s.ReducedBlock,
		"temp-allocator-size-main":                     &s.StackMain,
		"temp-allocator-size-job-worker":               &s.StackJobWorker,
		"temp-allocator-size-background-worker":        &s.StackBackgroundWorker,
		"temp-allocator-size-preload-manager":          &s.StackPreloadManager,
		"temp-allocator-size-audio-worker":             &s.StackAudioWorker,
		"temp-allocator-size-cloud-worker":             &s.StackCloudWorker,
		"temp-allocator-size-gfx":                      &s.StackGfx,
		"temp-allocator-size-gi-baking-worker":         &s.StackGIBakingWorker,
		"temp-allocator-size-nav-mesh-worker":          &s.StackNavMeshWorker,
	}
}

// Apply sets what one switch says: "-memorysetup-...=<bytes>" as on a command line, or without the dash as in
// boot.config, with or without quotes around it. A negative number stands for the default. What is no switch of these
// allocators is ignored; known says whether it is one. A value that is no number of bytes, or out of bounds, is a
// *ConfigError, and changes nothing.
func (s *Settings) Apply(text string) (known bool, err error) {
	text = strings.Trim(strings.TrimSpace(text), `"`)
	text = strings.TrimPrefix(strings.TrimPrefix(text, "-"), "-")
	name, value, hasValue := strings.Cut(text, "=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	switch name {
	case logStatsSwitch, diagnoseSwitch:
		on := !hasValue || value != "0" && !strings.EqualFold(value, "false")
		if name == logStatsSwitch {
			s.LogStats = on
		} else {
			s.Diagnostics = on
		}
		return true, nil
	}
	key, ok := strings.CutPrefix(name, setupPrefix)
	if !ok {
		return false, nil
	}
	field, ok := s.sizes()[key]
	if !ok {
		return false, nil
	}
	bytes, err := strconv.Atoi(value)
	if err != nil {
		return true, &ConfigError{name, value, "not a number of bytes"}
	}
	if bytes < 0 {
		defaults := DefaultSettings()
		*field = *defaults.sizes()[key]
		return true, nil
	}
	if bytes == 0 || bytes > BlockSizeMost {
		return true, &ConfigError{name, value, fmt.Sprintf("not from 1 to %d", BlockSizeMost)}
	}
	*field = bytes
	return true, nil
}

// ApplyArgs sets what the switches among the arguments of a command line say. The first error ends it.
func (s *Settings) ApplyArgs(args []string) error {
	for _, arg := range args {
		if strings.HasPrefix(arg, "-") {
			if _, err := s.Apply(arg); err != nil {
				return err
			}
		}
	}
	return nil
}

// ApplyBootConfig sets what the lines of a boot.config say, "key=value" each. The first error ends it; it names the
// line.
func (s *Settings) ApplyBootConfig(text string) error {
	for number, line := range strings.Split(text, "\n") {
		if _, err := s.Apply(line); err != nil {
			return fmt.Errorf("line %d: %w", number+1, err)
		}
	}
	return nil
}

// stackSize is the first size of the stack of a thread, by its name as Unity has it.
func (s *Settings) stackSize(thread string) int {
	name := strings.ToLower(thread)
	switch {
	case name == "main":
		return s.StackMain
	case strings.HasPrefix(name, "job.worker"):
		return s.StackJobWorker
	case strings.HasPrefix(name, "background job.worker"):
		return s.StackBackgroundWorker
	case strings.HasPrefix(name, "loading.preloadmanager"):
		return s.StackPreloadManager
	case strings.HasPrefix(name, "audio"):
		return s.StackAudioWorker
	case strings.HasPrefix(name, "cloudjob"):
		return s.StackCloudWorker
	case strings.Contains(name, "gfx"):
		return s.StackGfx
	case strings.HasPrefix(name, "bakingjobs"):
		return s.StackGIBakingWorker
	case strings.HasPrefix(name, "navmesh"):
		return s.StackNavMeshWorker
	}
	return 64 * kib
}
