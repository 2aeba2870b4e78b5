#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much CPU tare top takes for a refresh (docs/measurements/top.md).

    TARE_E2E_BUILD=build tests/bench/top_cost.py RECORDINGS,MACHINES,EVENTS …

RECORDINGS programs are recorded at once, on one simulated machine (MACHINES 1) or each on its own (0), and each makes and
destroys so many events of CUDA a second. Once a second tare top looks, on a terminal of 200 columns and 50 lines.
"""

import fcntl
import os
import pty
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from harness import fixture, record_args, tare_argv

BEFORE_S, WHILE_S, EVERY_S = 8, 20, 0.05


def cpu_ns(pid):
    """Of the thread that draws, and of all."""
    took = {}
    for thread in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/schedstat" % (pid, thread), encoding="ascii") as file:
            took[int(thread)] = int(file.read().split()[0])
    return took[pid], sum(took.values())


def drain(fd):
    try:
        while os.read(fd, 65536):
            pass
    except OSError:
        pass


def in_background(function, *args):
    threading.Thread(target=function, args=args, daemon=True).start()


def say(program, line):
    program.stdin.write(line)
    program.stdin.flush()


def start(folder, name, env):
    program = subprocess.Popen(tare_argv(*record_args(fixture("e2e_steps"), rec=name)), cwd=folder, env=env,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    program.stdout.readline()
    say(program, b"alloc 1048576\n")
    in_background(drain, program.stdout.fileno())
    return program


def make_events(programs, a_second, stop):
    while not stop.is_set():
        for program in programs:
            say(program, b"events %d\n" % (a_second * EVERY_S))
        time.sleep(EVERY_S)


def watch(folder, env):
    """The CPU in ns of a refresh, as cpu_ns()."""
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(folder)
        argv = tare_argv("top", ".")
        os.execve(argv[0], argv, env)
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
    in_background(drain, fd)
    time.sleep(BEFORE_S)
    before = cpu_ns(pid)
    time.sleep(WHILE_S)
    took = [(b - a) / WHILE_S for a, b in zip(before, cpu_ns(pid))]
    os.write(fd, b"q")
    os.waitpid(pid, 0)
    return took


def measure(count, is_one_machine, events):
    folder = tempfile.mkdtemp(prefix="tare-top-cost-")
    env = dict(os.environ, LANG="C.UTF-8", TERM="xterm")
    own = dict(env, TARE_SIM_DIR=folder) if is_one_machine else env
    programs = [start(folder, "r%d.tare" % i, own) for i in range(count)]
    stop = threading.Event()
    if events:
        in_background(make_events, programs, events, stop)
    took = watch(folder, env)
    stop.set()
    time.sleep(2 * EVERY_S)
    first = os.path.join(folder, "r0.tare")
    logs = sum(os.path.getsize(os.path.join(first, name)) for name in os.listdir(first) if ".events" in name)
    for program in programs:
        say(program, b"quit\n")
        program.wait()
    shutil.rmtree(folder, ignore_errors=True)
    print("%3d recordings, %s, %5d events/s each: %6.2f ms a refresh, of these %.2f the screen; the first has logs of %.1f MB"
          % (count, "one machine" if is_one_machine else "a machine each", events, took[1] / 1e6, took[0] / 1e6, logs / 1e6),
          flush=True)


if __name__ == "__main__":
    for words in sys.argv[1:]:
        measure(*map(int, words.split(",")))
