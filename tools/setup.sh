#!/bin/sh
# Installs the Debian packages named as arguments that are missing. Says what is missing when not root.
missing=""
for package in "$@"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)
  [ "$status" = installed ] || missing="$missing $package"
done
[ -z "$missing" ] && exit 0
if [ "$(id -u)" != 0 ]; then
  echo "granary: these Debian packages are missing; install them as root, then run make again:" >&2
  echo "  apt-get install --no-install-recommends$missing" >&2
  exit 1
fi
echo "granary: installing$missing"
export DEBIAN_FRONTEND=noninteractive
# Servers installed for the tests are started by the tests; the packages must not start them here.
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
  printf '#!/bin/sh\nexit 101\n' > $policy && chmod +x $policy
  trap 'rm -f $policy' EXIT
fi
log=$(mktemp)
# Another apt-get, such as the automatic one of a fresh machine, is waited for.
wait="-o DPkg::Lock::Timeout=300"
install() { apt-get $wait install -y --no-install-recommends $missing >"$log" 2>&1; }
install || { apt-get $wait update >"$log" 2>&1 && install; } || {
  cat "$log" >&2
  echo "granary: installing$missing failed; the log is above" >&2
  exit 1
}
rm -f "$log"
