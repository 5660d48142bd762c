# Children inherit the preload, and with GRANARY_CHILDREN=0 they do not, while other preloaded
# objects stay.
# covers: 48
# only: granary
# library: none
# plugin: other.c
# args: {lib} {other.so}
fail() { echo "$1" >&2; exit 1; }
count='grep -c libgranary.so /proc/self/maps'
[ "$(LD_PRELOAD=$1 sh -c "$count; true")" != 0 ] || fail "children lost the preload"
[ "$(LD_PRELOAD=$1 GRANARY_CHILDREN=0 sh -c "$count; true")" = 0 ] || fail "children kept it"
for list in "$1 $2" "$2 $1" "$1:$2" "$2:$1"; do
  out=$(LD_PRELOAD=$list GRANARY_CHILDREN=0 sh -c "$count; grep -c other /proc/self/maps; true")
  set -- "$1" "$2" $out
  [ "$3" = 0 ] && [ "$4" != 0 ] || fail "LD_PRELOAD=$list: children have $out"
  set -- "$1" "$2"
done
