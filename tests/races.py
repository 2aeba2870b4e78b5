#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a test that was built for ThreadSanitizer, and fails if it reports anything: races.py COMMAND [ARGUMENT…]

A report in a child of the test, or one that the test goes on after, changes no exit code. So reports go to files, of
every process that inherits the environment, and these are looked for when the test has ended. Names are looked up then:
a child that is about to be killed has no time for it.
"""

import glob
import os
import re
import signal
import subprocess
import sys
import tempfile

FRAME = re.compile(r"\((\S+)\+(0x[0-9a-f]+)\)")


def paths_by_name(command):
    """The files that frames may be in: beside the test, and what it was linked with there."""
    folder = os.path.dirname(os.path.abspath(command))
    return {os.path.basename(path): path for path in [os.path.abspath(command)] + glob.glob(folder + "/*.so*")}


def with_names(line, paths):
    frame = FRAME.search(line)
    path = paths.get(os.path.basename(frame.group(1))) if frame else None
    if not path:
        return line
    try:
        said = subprocess.run(["addr2line", "-f", "-i", "-e", path, frame.group(2)], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=False).stdout.decode().split("\n")
    except OSError:
        return line
    return line[:frame.start()] + " < ".join(
        "%s %s" % pair for pair in zip(said[::2], map(os.path.basename, said[1::2]))) + " " + frame.group(0)


def run(command, folder):
    """As a shell would say how it ended."""
    options = os.environ.get("TSAN_OPTIONS", "")
    os.environ["TSAN_OPTIONS"] = options + " symbolize=0 log_path=" + os.path.join(folder, "report")
    code = subprocess.call(command)
    return 128 - code if code < 0 else code


def main():
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    with tempfile.TemporaryDirectory() as folder:
        code = run(sys.argv[1:], folder)
        reports = sorted(glob.glob(os.path.join(folder, "report.*")))
        paths = paths_by_name(sys.argv[1])
        for report in reports[:1]:
            with open(report, encoding="utf-8", errors="replace") as text:
                for line in text.read().splitlines()[:200]:
                    print("# " + with_names(line, paths))
        if reports:
            print("# reports of %d processes" % len(reports), flush=True)
    sys.exit(code or (66 if reports else 0))


if __name__ == "__main__":
    main()
