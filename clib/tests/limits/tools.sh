# valgrind finds nothing wrong with a correct program on Granary, plain and in system mode, and
# finds what is wrong with a faulty one in system mode.
# covers: 11
# needs: valgrind gcc
# library: none
# args: {lib}
# timeout: 150
fail() { echo "$1" >&2; exit 1; }
check="valgrind -q --error-exitcode=9 --trace-children=no"
LD_PRELOAD=$1 $check /bin/true || fail "valgrind of true"
LD_PRELOAD=$1 GRANARY_ALLOC_SYSTEM=1 $check /bin/true || fail "valgrind of true, system mode"
LD_PRELOAD=$1 $check ls / >/dev/null || fail "valgrind of ls"
LD_PRELOAD=$1 GRANARY_ALLOC_SYSTEM=1 $check ls / >/dev/null || fail "valgrind of ls, system mode"
cat >faulty.c <<'END'
#include <stdlib.h>
int main(void)
{
    char *volatile block = malloc(10);
    int odd = block[10] & 1;
    free(block);
    return odd ? 1 : 0;
}
END
gcc -g -O0 -w -o faulty faulty.c || fail "gcc"
LD_PRELOAD=$1 GRANARY_ALLOC_SYSTEM=1 $check ./faulty 2>report
grep -q 'Invalid read of size 1' report ||
  fail "valgrind lost the fault in system mode: $(cat report)"
