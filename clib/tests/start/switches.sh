# A switch is 1 or 0, in words too; anything else is named and changes nothing. That holds for the
# variables with a choice of their own as well.
# only: granary
# library: none
# args: {lib}
fail() { echo "$1" >&2; exit 1; }
for name in VERBOSE DEBUG_ALLOC DEBUG_ALLOC_STATS DEBUG_ALLOC_RELEASE ALLOC_RELEASE ALLOC_SYSTEM CHILDREN; do
  out=$(env LD_PRELOAD=$1 GRANARY_$name=maybe /bin/echo hello 2>&1)
  [ "$out" = "granary: GRANARY_$name=maybe is neither 1 nor 0; ignored
hello" ] || fail "GRANARY_$name=maybe: $out"
  for off in 0 no false off ''; do
    [ $name = ALLOC_RELEASE ] || [ $name = CHILDREN ] || {
      out=$(env LD_PRELOAD=$1 GRANARY_$name=$off /bin/echo hello 2>&1)
      [ "$out" = hello ] || fail "GRANARY_$name=$off: $out"
    }
  done
done
for on in 1 yes true on; do
  env LD_PRELOAD=$1 GRANARY_VERBOSE=$on /bin/echo hello 2>&1 | grep -q 'in pid' || fail "GRANARY_VERBOSE=$on is off"
done
out=$(env LD_PRELOAD=$1 GRANARY_ALLOC_NORMAL=libc /bin/echo hello 2>&1)
[ "$out" = "granary: GRANARY_ALLOC_NORMAL=libc is not system; ignored
hello" ] || fail "GRANARY_ALLOC_NORMAL=libc: $out"
out=$(env LD_PRELOAD=$1 GRANARY_CHILDREN=no GRANARY_VERBOSE=1 /bin/sh -c '/bin/echo child' 2>&1)
[ "$(echo "$out" | grep -c 'in pid')" = 1 ] || fail "GRANARY_CHILDREN=no: $out"
