#!/bin/sh
# Generates the inputs of the real programs into a folder: prepare.sh FOLDER SCALE_PERCENT
#
# Always the same bytes. What is there already is kept: a stamp of this script and of the generator
# decides.
set -eu
folder=$1
scale=$2
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$folder"
stamp=$(cat "$0" "$here/generate.py" | cksum)
mark=$folder/stamp-$scale
[ -e "$mark" ] && [ "$(cat "$mark")" = "$stamp" ] && exit 0

generate() { python3 "$here/generate.py" "$1" "$scale"; }

generate c >"$folder/generated-$scale.c"
generate c++ >"$folder/generated-$scale.cc"
generate sql >"$folder/tables-$scale.sql"

repository=$folder/repository-$scale
rm -rf "$repository"
git init -q --initial-branch=main "$repository"
generate git | git -C "$repository" fast-import --quiet
# As a clone would have it: one pack, no loose objects.
git -C "$repository" -c pack.threads=1 repack -q -a -d

printf '%s' "$stamp" >"$mark"
