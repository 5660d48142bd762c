#!/bin/sh
# Unpacks kernels of Debian's into a folder, without installing them: fetch.sh FOLDER PACKAGE...
# A package may be one that only names the newest kernel, such as linux-image-cloud-amd64.
set -e
folder=$1
shift
for package in "$@"; do
  [ -e "$folder/$package/ready" ] && continue
  real=$(apt-cache depends --important "$package" | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
  rm -rf "${folder:?}/$package"
  mkdir -p "$folder/$package"
  log=$folder/$package/log
  echo "granary: unpacking ${real:-$package}"
  (cd "$folder/$package" && apt-get download "${real:-$package}" && dpkg-deb -x ./*.deb . && rm ./*.deb) \
    >"$log" 2>&1 || { cat "$log" >&2; echo "granary: $package could not be had; the log is above" >&2; exit 1; }
  : >"$folder/$package/ready"
done
