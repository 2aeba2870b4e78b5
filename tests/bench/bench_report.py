#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long reports of large recordings take. Prints, and judges nothing.

    tests/bench/bench_report.py TARE LIBC10_CUDA [EVENTS… [+LIVE…]]      +10000 +1000000 unless told otherwise

Each program (storm.py, on the simulated GPU) hands out and takes back that many blocks, of which LIVE are out
at a time. Time is that of the processor, so that other programs count little; a time that is linear in the
events is the same number of nanoseconds for each in every row.
"""
import os
import shutil
import subprocess
import sys
import tempfile

STORM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "storm.py")
REPORTS = (
    ("report", []),
    ("--by category", ["--by", "category"]),
    ("--by line", ["--by", "line"]),
    ("--by tensor", ["--by", "tensor"]),
    ("--by pool", ["--by", "pool"]),
    ("--svg", ["--svg", "picture.svg"]),
    ("--json", ["--json"]),
)


def run(argv, folder):
    """Seconds of the processor, and MiB at most."""
    with open(os.path.join(folder, "out"), "w", encoding="utf-8") as out:
        child = subprocess.Popen(argv, cwd=folder, stdout=out)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    if status:
        sys.exit("%s ended with %d" % (" ".join(argv), status))
    if os.path.exists(os.path.join(folder, "picture.svg")):
        os.unlink(os.path.join(folder, "picture.svg"))
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def measure(tare, library, events, live, folder):
    rec = "storm.tare"
    subprocess.run([tare, "record", "-f", "-o", rec, "--cap", "64GiB", "--sim", "h200", "--", sys.executable, STORM,
                    library, str(events), str(live)], cwd=folder, check=True, stderr=subprocess.DEVNULL)
    for name, options in REPORTS:
        seconds, most = run([tare, "report", rec] + options, folder)
        print("%11d  %9d  %-14s  %8.2f  %9.0f  %6.0f" % (events, live, name, seconds, seconds / events * 1e9, most),
              flush=True)
    shutil.rmtree(os.path.join(folder, rec))


def main():
    tare, library = (os.path.abspath(path) for path in sys.argv[1:3])
    counts = [int(word) for word in sys.argv[3:] if not word.startswith("+")] or [1000000, 4000000]
    lives = [int(word) for word in sys.argv[3:] if word.startswith("+")] or [10000, 1000000]
    folder = tempfile.mkdtemp(prefix="tare-bench-")
    print("%11s  %9s  %-14s  %8s  %9s  %6s" % ("events", "live", "report", "seconds", "ns/event", "MiB"))
    try:
        for live in lives:
            for events in counts:
                measure(tare, library, events, live, folder)
    finally:
        shutil.rmtree(folder)


main()
