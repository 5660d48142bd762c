# env -i with nothing but the preload, and the loader's own --preload without any environment.
# covers: 5
# library: none
# args: {lib}
set -e
[ "$(env -i LD_PRELOAD="$1" /bin/sh -c 'echo $((6 * 7))')" = 42 ]
[ "$(env -i LD_PRELOAD="$1" GRANARY_VERBOSE= /bin/echo works)" = works ]
loader=/lib64/ld-linux-x86-64.so.2
[ "$(env -i $loader --preload "$1" /bin/echo works)" = works ]
[ "$(env -i $loader --preload "$1" /bin/sh -c 'echo $$ >/dev/null; echo works')" = works ]
