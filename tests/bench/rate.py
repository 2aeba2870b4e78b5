#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `tare` costs beside a program that records 60,000 calls of the driver a second.

    tests/bench/rate.py BUILD REC [CAP [SECONDS]]        with the default cap, 40 s
"""

import os
import subprocess
import sys
import time

RATE, AT_ONCE = 60000, 1200

build, rec = (os.path.abspath(path) for path in sys.argv[1:3])
cap, seconds = (sys.argv[3:] + ["2GiB", "40"][len(sys.argv) - 3:])[:2]
tare = os.path.join(build, "tare")
tick = os.sysconf("SC_CLK_TCK")


def resident(pid):
    """KiB at most; 0: it is gone."""
    try:
        with open("/proc/%d/status" % pid) as file:
            return max(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
    except (OSError, ValueError):
        return 0


def children(pid):
    """Those that make the recording small: the same program as tare."""
    with open("/proc/%d/task/%d/children" % (pid, pid)) as file:
        pids = [int(word) for word in file.read().split()]
    for child in pids:
        try:
            if os.readlink("/proc/%d/exe" % child) == os.path.realpath(tare):
                yield child
        except OSError:
            pass


run = subprocess.Popen([tare, "record", "-f", "--sim", "h200", "--cap", cap, "-o", rec, "--",
                        os.path.join(build, "tests", "e2e", "e2e_steps")], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
begun, records, most = time.monotonic(), 0, 0
while time.monotonic() < begun + float(seconds):
    run.stdin.write(b"events %d\n" % (AT_ONCE // 2))
    run.stdin.flush()
    records += AT_ONCE
    time.sleep(max(0, begun + records / RATE - time.monotonic()))
    most = max(most, resident(run.pid) + sum(resident(child) for child in children(run.pid)))
took = time.monotonic() - begun
with open("/proc/%d/stat" % run.pid) as file:
    own, system, child, child_system = (int(x) / tick for x in file.read().rsplit(")", 1)[1].split()[11:15])
run.stdin.close()
run.wait()
print("%d records in %.1f s: tare %.1f %%, its children %.1f %% of a core; resident %.1f MiB at most" % (
    records, took, 100 * (own + system) / took, 100 * (child + child_system) / took, most / 1024))
