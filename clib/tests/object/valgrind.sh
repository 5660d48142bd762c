# valgrind finds nothing wrong with the cases of golden.c and bad_types.c, plain and in system mode.
# needs: valgrind gcc
# library: none
# only: granary
# args: {lib} {source}
fail() { echo "$1" >&2; exit 1; }
tests=$2
root=$tests/../../..
for name in golden bad_types; do
  gcc -g -O1 -D_GNU_SOURCE -I"$root/clib/include" -I"$tests/.." -o "$name" "$tests/$name.c" "$1" -pthread ||
    fail "gcc $name"
  for system in 0 1; do
    LD_LIBRARY_PATH=$(dirname "$1") GRANARY_ALLOC_SYSTEM=$system \
      valgrind -q --error-exitcode=9 "./$name" 2>report || fail "valgrind of $name, system mode $system: $(cat report)"
  done
done
