# Another preloaded object replaces mmap, munmap, madvise and mprotect and looks the real ones up
# with dlsym on the first call, which may come from inside of malloc: before and behind Granary in
# the list.
# covers: 4
# library: none
# plugin: interposer.c
# args: {lib} {interposer.so}
set -e
for list in "$2:$1" "$1:$2"; do
  [ "$(LD_PRELOAD=$list bash -c 'echo $((2 + 3))')" = 5 ]
  LD_PRELOAD=$list ls -l / >/dev/null
  [ "$(LD_PRELOAD=$list perl -e '$x = "a" x 3000000; print length $x')" = 3000000 ]
done
