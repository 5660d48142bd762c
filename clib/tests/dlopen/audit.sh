# An auditor (LD_AUDIT) has a libc of its own and runs before the preload's thread data exist.
# covers: 2
# library: none
# plugin: auditor.c
# args: {lib} {auditor.so}
set -e
run() { LD_AUDIT="$2" LD_PRELOAD="$1" "$3" "$4"; }
run "$1" "$2" ls / >/dev/null
[ "$(LD_AUDIT=$2 LD_PRELOAD=$1 sh -c 'echo $((2 + 3)); ls / >/dev/null')" = 5 ]
