# Under limits of the address space the reservation shrinks and in the end the system allocator
# serves, and programs start and work as they do on the libc alone.
# covers: 12 29
# library: none
# args: {lib}
# also: GRANARY_DEBUG_ALLOC=1
fail() { echo "$1" >&2; cat errors >&2; exit 1; }
script='@a = map { "x" x $_ } 1..2000; print scalar @a'
for kib in 500000 200000 100000 50000 20000; do
  (ulimit -v $kib && LD_PRELOAD=$1 ls / >/dev/null 2>errors) || fail "ls under ulimit -v $kib"
  out=$(ulimit -v $kib && LD_PRELOAD=$1 perl -e "$script" 2>errors)
  [ "$out" = 2000 ] || fail "perl under ulimit -v $kib: $out"
done
for kib in 20000 50000; do
  (ulimit -d $kib && LD_PRELOAD=$1 ls / >/dev/null 2>errors) || fail "ls under ulimit -d $kib"
  out=$(ulimit -d $kib && LD_PRELOAD=$1 perl -e "$script" 2>errors)
  [ "$out" = 2000 ] || fail "perl under ulimit -d $kib: $out"
done
# 1 GB: where allocators with one large reservation abort.
out=$(LD_PRELOAD=$1 prlimit --as=1000000000 sh -c 'seq 100000 | sort | wc -l' 2>errors)
[ "$out" = 100000 ] || fail "1 GB of address space: $out"
