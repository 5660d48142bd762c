// The example of std::pmr::memory_resource: containers of several threads in linear memory, nothing of which is alive
// at the end, and a report in the format of Unity's.
// only: granary
// link: {granary}
// args: 30
// also: GRANARY_ALLOC_SYSTEM=1
// expect-out: ^116000 words$
// expect-out: ^granary: linear JOB_2_FRAMES: \d+ of at most 64 blocks in use
// expect-out: ^granary: linear JOB_2_FRAMES: frame 30; alive 0, and 0 on the heap; 0 became older than 2 frames
// expect-out: ^Memory Statistics:$
// expect-out: ^    \[ALLOC_TEMP_Job.Worker 3\]$
// expect-out: ^      Peak usage frame count: \[.*\]: 30 frames$
// expect-out: ^\[ALLOC_TEMP_JOB_2_FRAMES\]$
// expect-out: ^  Initial Block Size 256.0 KB$
#include "../../../examples/pmr/main.cpp"
