# Ordinary commands run as always, under the switches too: a shell, ls, sort, python if there is
# one.
# covers: 4 8 17
# also: GRANARY_DEBUG_ALLOC=1
# also: GRANARY_ALLOC_SYSTEM=1
# also: GRANARY_ALLOC_RELEASE=0
# refuse: granary: (free|malloc|exit)
set -e
ls -lR /usr/include/linux >/dev/null
[ "$(seq 20000 | sort -n -r | tail -1)" = 1 ]
[ "$(bash -c 'x=$(seq 100 | wc -l); echo $x')" = 100 ]
find /usr/share/doc -maxdepth 1 | sed s/a/b/ | awk '{n += length($0)} END {print n}' >/dev/null
perl -e '@a = map { "x" x $_ } 1..2000; print scalar(@a), "\n"' | grep -q 2000
tar cf - /usr/include/linux 2>/dev/null | gzip -1 | gzip -dc | wc -c >/dev/null
unshare -r true 2>/dev/null || [ "$(id -u)" != 0 ]
