# AddressSanitizer and UndefinedBehaviorSanitizer find nothing wrong with the cases of golden.c and
# bad_types.c.
# needs: gcc
# library: none
# only: granary
# args: {lib} {source}
fail() { echo "$1" >&2; exit 1; }
tests=$2
root=$tests/../../..
asan=$(gcc -print-file-name=libasan.so)
for name in golden bad_types; do
  gcc -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -D_GNU_SOURCE -I"$root/clib/include" \
    -I"$tests/.." -o "$name" "$tests/$name.c" "$1" -pthread || fail "gcc $name"
  LD_LIBRARY_PATH=$(dirname "$1") LD_PRELOAD=$asan GRANARY_ALLOC_SYSTEM=1 \
    ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=0 "./$name" 2>report || fail "$name: $(cat report)"
done
