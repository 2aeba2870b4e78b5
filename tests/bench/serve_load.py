#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What scrapes of tare serve cost while many programs are recorded (docs/measurements/serve.md).

    TARE_E2E_BUILD=build tests/bench/serve_load.py RECORDINGS,MACHINES,EVENTS,SCRAPES,SECONDS …

RECORDINGS programs are recorded at once, on one simulated machine (MACHINES 1) or each on its own (0), and each makes and destroys so many events of
CUDA a second. Then so many scrapes, one each SECONDS (0: one after the other).
"""

import http.client
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import openmetrics
from harness import tare_argv
from top_cost import in_background, make_events, cpu_ns, say, start


def resident_kib(pid):
    with open("/proc/%d/status" % pid, encoding="ascii") as file:
        return int(re.search(r"VmHWM:\s+(\d+)", file.read()).group(1))


def scrape(port, count, every):
    """Bytes of the last text, and the wall seconds of each scrape."""
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    walls, body = [], b""
    for _ in range(count):
        before = time.monotonic()
        link.request("GET", "/metrics")
        body = link.getresponse().read()
        walls.append(time.monotonic() - before)
        time.sleep(max(0, every - walls[-1]))
    return body, sorted(walls)


def measure(count, is_one_machine, events, scrapes, every):
    folder = tempfile.mkdtemp(prefix="tare-serve-load-")
    env = dict(os.environ, LANG="C.UTF-8")
    own = dict(env, TARE_SIM_DIR=folder) if is_one_machine else env
    programs = [start(folder, "r%d.tare" % i, own) for i in range(count)]
    stop = threading.Event()
    if events:
        in_background(make_events, programs, events, stop)
    server = subprocess.Popen(tare_argv("serve", "--listen", "127.0.0.1:0", "."), cwd=folder, env=env, stderr=subprocess.PIPE)
    port = int(re.search(rb":(\d+)/", server.stderr.readline()).group(1))
    before, begin = cpu_ns(server.pid), time.monotonic()
    body, walls = scrape(port, scrapes, every)
    took, seconds = cpu_ns(server.pid) - before, time.monotonic() - begin
    peak = resident_kib(server.pid)
    stop.set()
    families = openmetrics.parse(body.decode())
    used = families["tare_gpu_memory_used_bytes"]
    wrong = [labels for labels, value in used.samples if families["tare_gpu_memory_bytes"].sum(**labels) != value]
    server.terminate()
    server.wait()
    for program in programs:
        say(program, b"quit\n")
        program.wait()
    shutil.rmtree(folder, ignore_errors=True)
    print("%3d recordings, %s, %5d events/s each: %4d scrapes in %.1f s, %.2f ms of CPU each, %.1f %% of a core, wall median %.1f ms, p99 %.1f ms, "
          "%d bytes, %d series, peak resident %.1f MiB, sums that are wrong: %d"
          % (count, "one machine" if is_one_machine else "a machine each", events, scrapes, seconds, took / scrapes / 1e6,
             took / seconds / 1e7, 1e3 * walls[len(walls) // 2], 1e3 * walls[len(walls) * 99 // 100], len(body),
             sum(len(f.samples) for f in families.values()), peak / 1024, len(wrong)), flush=True)


if __name__ == "__main__":
    for words in sys.argv[1:]:
        a, b, c, d, seconds = words.split(",")
        measure(int(a), int(b), int(c), int(d), float(seconds))
