"""Becomes CPython's own test suite, after checking that Granary is in this process.

usage: regrtest.py LIBRARY|none REGRTEST-ARGUMENTS...

The check happens here because the verbose line on standard error would fail every test that looks at
the standard error of a child. What is exec'd below, and the worker processes that it starts, get the same
environment.
"""

import os
import signal
import subprocess
import sys

SHOW_MAP = "print(open('/proc/self/maps').read())"


def main():
    library, arguments = sys.argv[1], sys.argv[2:]
    child = subprocess.run([sys.executable, "-c", SHOW_MAP], check=True, capture_output=True, text=True)
    for maps in (open("/proc/self/maps").read(), child.stdout):
        if ("libgranary.so" in maps) != (library != "none"):
            sys.exit(f"libgranary.so in the memory map: {library == 'none'}, wanted {library}")
    # Tests interrupt themselves; a shell that starts jobs in the background has these signals ignored.
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    os.execv(sys.executable, [sys.executable, "-m", "test", *arguments])


main()
