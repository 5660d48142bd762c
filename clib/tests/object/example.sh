# The example in C prints what it should.
# needs: gcc
# library: none
# only: granary
# args: {lib} {source}
fail() { echo "$1" >&2; exit 1; }
root=$2/../../..
gcc -O2 -Wall -Wextra -Werror -I"$root/clib/include" -o colony "$root/examples/objects-c/colony.c" "$1" -pthread ||
  fail "gcc"
export LD_LIBRARY_PATH=$(dirname "$1")
./colony >first || fail "it ended with status $?"
./colony >second || fail "it ended with status $?"
cmp first second || fail "two runs print different things"
grep -q '^year  *100: ' first || fail "$(cat first)"
grep -q '^all gone: 0 settlers, 0 houses, 0 still held$' first || fail "$(cat first)"
