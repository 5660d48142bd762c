# GRANARY_VERBOSE=1 tells which processes Granary is in: one line a process, with version, pid and
# name.
# covers: 48
# only: granary
# library: none
# args: {lib}
fail() { echo "$1" >&2; exit 1; }
out=$(LD_PRELOAD=$1 GRANARY_VERBOSE=1 /bin/echo hello 2>&1)
line='^granary: [0-9]+\.[0-9]+\.[0-9]+ in pid [0-9]+ \(echo\)$'
echo "$out" | grep -Eq "$line" || fail "got: $out"
[ "$(echo "$out" | grep -c granary:)" = 1 ] || fail "not one line: $out"
out=$(LD_PRELOAD=$1 GRANARY_VERBOSE=1 /bin/sh -c '/bin/echo child; /bin/echo child' 2>&1)
[ "$(echo "$out" | grep -c 'granary: .* in pid .*(echo)')" = 2 ] || fail "children: $out"
[ "$(LD_PRELOAD=$1 /bin/echo hello 2>&1)" = hello ] || fail "prints without being asked to"
out=$(LD_PRELOAD=$1 GRANARY_VERBOSE=0 /bin/echo hello 2>&1)
[ "$out" = hello ] || fail "GRANARY_VERBOSE=0 prints: $out"
