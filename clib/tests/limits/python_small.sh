# python starts in 100,000 KiB of address space, as it does on the libc.
# covers: 29
# library: none
# needs: python3
# args: {lib}
script='print(sum(len(str(i)) for i in range(100000)))'
out=$(ulimit -v 100000 && LD_PRELOAD=$1 python3 -c "$script" 2>&1)
[ "$out" = 488890 ] && exit 0
echo "$out" >&2
exit 1
