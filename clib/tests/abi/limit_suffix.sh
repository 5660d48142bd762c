# The limit takes plain bytes and K, M and G; one that it cannot read is named and not taken for
# something else.
# covers: 46
# only: granary
# needs: python3
try() {
  GRANARY_ALLOC_LIMIT=$1 python3 -c '
import sys
try:
    block = bytearray(int(sys.argv[1]))
    print("got it")
except MemoryError:
    print("refused")
' "$2" 2>&1
}
expect() {
  got=$(try "$1" "$2")
  [ "$got" = "$3" ] && return
  echo "limit $1, $2 bytes: '$got', expected '$3'" >&2
  exit 1
}
expect 67108864 100000000 refused
expect 65536K 100000000 refused
expect 64M 100000000 refused
expect 1G 100000000 'got it'
expect 200000000 100000000 'got it'
try 12X 1000 | grep -q '^granary: .*GRANARY_ALLOC_LIMIT.*12X' || {
  echo "a limit of 12X is not named" >&2
  exit 1
}
