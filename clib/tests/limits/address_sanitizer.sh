# A program built with AddressSanitizer either refuses the preload with AddressSanitizer's own
# message or works; with the sanitizer's library first in the list, or linked into the program, it
# works and still finds faults.
# covers: 11
# needs: gcc timeout
# library: none
# args: {lib}
fail() { echo "$1" >&2; exit 1; }
cat >good.c <<'END'
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    char *block = malloc(100), *copy;
    strcpy(block, "works");
    copy = strdup(block);
    puts(copy);
    free(copy);
    free(block);
    if (argc > 1) { block = malloc(50); free(block); return block[(argv[1][0] - '0') % 50]; }
    return 0;
}
END
gcc -g -w -fsanitize=address -o dynamic good.c || fail "gcc"
gcc -g -w -fsanitize=address -static-libasan -o static good.c || fail "gcc -static-libasan"
out=$(LD_PRELOAD=$1 timeout 20 ./dynamic 2>&1)
status=$?
case "$status $out" in
"0 works") ;;
*"ASan runtime does not come first"*) [ $status = 1 ] || fail "status $status: $out" ;;
*) fail "status $status: $out" ;;
esac
runtime=$(gcc -print-file-name=libasan.so)
for system in 0 1; do
  out=$(LD_PRELOAD=$runtime:$1 GRANARY_ALLOC_SYSTEM=$system timeout 20 ./dynamic 2>&1)
  [ "$out" = works ] || fail "runtime first, system mode $system: $out"
  out=$(LD_PRELOAD=$runtime:$1 GRANARY_ALLOC_SYSTEM=$system timeout 20 ./dynamic 3 2>&1)
  echo "$out" | grep -q heap-use-after-free || fail "fault not found, system mode $system: $out"
  out=$(LD_PRELOAD=$1 GRANARY_ALLOC_SYSTEM=$system ASAN_OPTIONS=verify_asan_link_order=0 \
    timeout 20 ./static 2>&1)
  [ "$out" = works ] || fail "runtime in the program, system mode $system: $out"
done
