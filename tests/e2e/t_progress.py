#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How far a command is, which takes long: a line on a terminal that is gone when it is done."""

import os
import re
import select
import subprocess
import time

from harness import case, check, check_equal, check_says, main, needs_exec, tare_argv

NOTES = b"step 1: used 2048 MiB\nstep 2: used 4096 MiB\n"


class Terminal:
    """Standard error of a command, as it is written."""

    def __init__(self):
        self.master, self.end = os.openpty()
        self.seen = []  # (when, what)

    def read(self, seconds):
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if select.select([self.master], [], [], left)[0]:
                self.seen.append((time.monotonic(), os.read(self.master, 65536).decode()))

    def text(self):
        return "".join(what for _, what in self.seen)


def slow_import(box, stderr, read):
    """An import of what comes slowly, a line each twentieth of a second."""
    running = box.start(tare_argv("import", "-", "-o", "notes.tare"), stdin=subprocess.PIPE, stderr=stderr, env={"TERM": "xterm"})
    for _ in range(30):
        running.stdin.write(NOTES * 2000)  # the reader takes much at once
        running.stdin.flush()
        read(0.05)
    out, _ = running.communicate(timeout=60)
    check_equal(running.returncode, 0, out)
    check_says(out.decode(), "lines with figures")


@case
def a_line_on_a_terminal(box):
    needs_exec()
    terminal = Terminal()
    slow_import(box, terminal.end, terminal.read)
    terminal.read(0.1)
    lines = re.findall(r"\r\x1b\[K(tare: importing, [^\r\x1b]*)", terminal.text())
    check(len(lines) >= 2, repr(terminal.text()))
    check(all(len(line) < 80 for line in lines), lines)
    check(len(lines) <= 20, "more than ten in a second", lines)
    check(terminal.text().endswith("\r\x1b[K"), "it is still there", repr(terminal.text()[-100:]))
    os.close(terminal.end)
    os.close(terminal.master)


@case
def nothing_where_there_is_none(box):
    needs_exec()
    with open(box.path("errors"), "w+", encoding="utf-8") as file:
        slow_import(box, file, time.sleep)
        file.seek(0)
        check_equal(file.read(), "")


if __name__ == "__main__":
    main()
