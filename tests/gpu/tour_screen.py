#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`tare top` on a terminal for 20 s: what it drew, for a picture, and what a refresh costs.

    tour_screen.py TARE RAW     RAW gets the bytes of the screen
"""

import fcntl
import os
import pty
import select
import struct
import sys
import termios
import time

SECONDS, COLUMNS, LINES = 20, 120, 44


def main():
    tare, raw = sys.argv[1:]
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm-256color"
        time.sleep(0.2)  # until the size is set
        os.execv(tare, [tare, "top"])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    end, first = time.monotonic() + SECONDS, None
    with open(raw, "wb") as out:
        while time.monotonic() < end:
            if select.select([terminal], [], [], 0.1)[0]:
                out.write(os.read(terminal, 1 << 16))
            since = SECONDS - (end - time.monotonic())
            if since > 5 and first is None:
                first = cpu(pid), time.monotonic()
        ms = 1000 * (cpu(pid) - first[0]) / (time.monotonic() - first[1])
        print("tare top, as it opens, one refresh a second: %.1f ms of CPU a refresh" % ms)
    os.write(terminal, b"q")
    os.waitpid(pid, 0)


def cpu(pid):
    took = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as file:
            took += int(file.read().split()[0])
    return took / 1e9


main()
