#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A long run: ResNet-50 in training under a cap of 200 MiB. What the recording takes, by the second and extrapolated to an
# hour; what tare costs beside it; how long a report of any instant takes; whether the books balance. One table last.
#   tests/gpu/long.sh TARE_FOLDER [SECONDS]       TARE_FOLDER: a dist folder (make dist)
set -u
here=$(cd "$(dirname "$0")" && pwd)
tare=$(cd "${1:?dist folder}" && pwd)/bin/tare
seconds=${2:-120}
rec=$(mktemp -d)/long.tare
exec python3 - "$here/programs/resnet50_long.py" "$tare" "$rec" "$seconds" <<'END'
import json
import os
import subprocess
import sys
import time

program, tare, rec, seconds = sys.argv[1:5]
tick = os.sysconf("SC_CLK_TCK")


def size(ends):
    total = 0
    for name in os.listdir(rec) if os.path.isdir(rec) else []:
        if name.endswith(ends):
            try:
                st = os.stat(os.path.join(rec, name))
                total += max(st.st_size, 512 * st.st_blocks)
            except FileNotFoundError:
                pass
    return total


def cost(pid):
    """Seconds of the processor: of tare, and of its children that have ended."""
    try:
        fields = open("/proc/%d/stat" % pid).read().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return sum(int(x) for x in fields[11:15]) / tick


run = subprocess.Popen([tare, "record", "--cap", "200MiB", "-o", rec, "--", "python3", program, seconds],
                       stdout=subprocess.PIPE)
begun, most, spent = time.monotonic(), 0, 0
while run.poll() is None:
    most = max(most, size(("",)))
    now = cost(run.pid)
    # The program itself becomes a child that has ended, at the end.
    if now is not None and time.monotonic() - begun < float(seconds):
        spent, at = now, time.monotonic() - begun
    time.sleep(0.2)
steps = int(run.stdout.read().split()[-1])
manifest = json.load(open(os.path.join(rec, "segments.json")))
small, states = size((".segment",)), size((".state",))
records = sum(1 for _ in subprocess.Popen([tare, "dump", rec], stdout=subprocess.PIPE).stdout)
rows = [("steps", "%d" % steps), ("records", "%d" % records), ("records a second", "%d" % (records / float(seconds))),
        ("segments, MiB", "%.1f" % (small / 2**20)), ("states, MiB", "%.1f in %d" % (states / 2**20, len(manifest["states"]))),
        ("folder at most, MiB", "%.1f" % (most / 2**20)),
        ("segments of an hour, MiB", "%.0f" % (small / 2**20 * 3600 / float(seconds))),
        ("tare and its children, % of a core", "%.1f" % (100 * spent / at)),
        ("dropped", str(manifest.get("dropped", "nothing")))]
for instant in ("peak", "end", "%ds" % (int(float(seconds)) // 2), "20s"):
    t = time.monotonic()
    done = subprocess.run([tare, "report", rec, "--at", instant, "--json"], stdout=subprocess.PIPE)
    took = time.monotonic() - t
    device = json.loads(done.stdout)["devices"][0] if done.returncode == 0 else {"used_bytes": 0, "unexplained_bytes": 0}
    rows.append(("report --at %s, s; used, unexplained MiB" % instant, "%.2f; %.1f, %.3f" % (
        took, device["used_bytes"] / 2**20, device["unexplained_bytes"] / 2**20)))
for name, value in rows:
    print("%-48s %s" % (name, value))
END
