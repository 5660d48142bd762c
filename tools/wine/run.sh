#!/bin/sh
# Runs a Windows program under Debian's wine, without a display: run.sh FOLDER PROGRAM ARGUMENT...
# FOLDER, an absolute path, keeps wine's files. For go test -exec.
set -e
folder=$1
shift
wine=/usr/lib/wine/wine64
for need in $wine:wine64 /usr/bin/x86_64-w64-mingw32-ld:binutils-mingw-w64-x86-64; do
  [ -x "${need%:*}" ] || { echo "granary: ${need%:*} is missing: install the Debian package ${need#*:}" >&2; exit 1; }
done
export WINEPREFIX="$folder/prefix" WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml="
if [ ! -e "$folder/ready" ]; then
  mkdir -p "$folder"
  x86_64-w64-mingw32-as -o "$folder/empty.o" /dev/null
  x86_64-w64-mingw32-ld --shared -e 0 -o "$folder/bcryptprimitives.dll" \
    "$(dirname "$0")/bcryptprimitives.def" "$folder/empty.o"
  timeout 120 $wine wineboot --init >"$folder/log" 2>&1 || { cat "$folder/log" >&2; exit 1; }
  cp "$folder/bcryptprimitives.dll" "$WINEPREFIX/drive_c/windows/system32/"
  : >"$folder/ready"
fi
exec timeout 600 $wine "$@"
