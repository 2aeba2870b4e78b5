#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How far a command is, which takes long: a line on a terminal that is gone when it is done."""

import os
import re
import select
import subprocess
import time

from harness import ROOT, case, check, check_equal, check_says, fixture, main, needs_exec, tare_argv

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


# Each command with what it works on, and those that show how far they are in another way, or have nothing to wait for.
SHOWN = {"report": ["rec.tare"], "diff": ["rec.tare@peak", "rec.tare@end"], "check": ["rec.tare", "--max", "used=80GiB"], "dump": ["rec.tare"], "compact": ["rec.tare"],
         "import": ["notes.txt", "-o", "notes.tare"], "info": ["rec.tare"], "whatif": ["rec.tare"], "serve": ["--once", "rec.tare"], "explain": ["rec.tare"], "fit": ["table.csv"],
         "plan": ["table.csv", "--vram", "8GiB"], "graphs": ["choose", "sizes.txt"], "weigh": ["1"], "doctor": [], "ctl": ["rec.tare", "status"]}
OTHERS = {"run": "its program has the terminal; a line of its own at the end", "record": "as run", "top": "a screen", "sweep": "a line for each run", "predict": "a line for each run",
          "demo": "as run", "calibrate": "a line for each measurement", "env": "reads nothing", "help": "reads nothing"}


def on_a_terminal(box, *args):
    """What a command writes to a terminal from its begin on, which is standard error."""
    terminal = Terminal()
    running = box.start(tare_argv(*args), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=terminal.end, env={"TERM": "xterm", "TARE_TEST_PROGRESS_MS": "0"})
    while running.poll() is None:
        terminal.read(0.02)
    running.communicate()
    terminal.read(0.02)
    os.close(terminal.end)
    os.close(terminal.master)
    return terminal.text()


@case
def every_command_shows_how_far_it_is(box):
    """On a terminal, and it is gone at the end; where standard error is a file nothing of it is there. A new command has to stand in one of the two lists."""
    needs_exec()
    with open(os.path.join(ROOT, "src", "cmd", "cmd.def"), encoding="utf-8") as table:
        commands = re.findall(r"^X\((\w+)\)", table.read(), re.M)
    check_equal(sorted([*SHOWN, *OTHERS]), sorted(commands))
    with open(box.path("notes.txt"), "wb") as notes:
        notes.write(NOTES)
    with open(box.path("table.csv"), "w", encoding="utf-8") as table:
        table.write("n,bytes\n" + "".join("%d,%d\n" % (n, 1000 * n) for n in range(1, 9)))
    with open(box.path("sizes.txt"), "w", encoding="utf-8") as sizes:
        sizes.write("1\n2\n4\n")
    box.record(fixture("e2e_tensors"))
    for name, args in SHOWN.items():
        text = on_a_terminal(box, name, *args)
        check(re.search(r"\r\x1b\[Ktare: \w+( \(\d+\))?(, |  \[)", text), name, repr(text))
        check(text.rindex("\r\x1b[K") > text.rindex("\r\x1b[Ktare: "), "it is still there", name, repr(text))
        again = ["-f"] if name == "import" else []
        check("\x1b" not in box.run(tare_argv(name, *args, *again), env={"TERM": "xterm", "TARE_TEST_PROGRESS_MS": "0"}).err, name)


@case
def the_end_of_a_run_shows_how_far_it_is(box):
    needs_exec()
    text = on_a_terminal(box, "record", "--sim", "h100", "-o", "rec.tare", "--", *fixture("e2e_tensors"))
    check("\r\x1b[Ktare: making the recording small" in text, repr(text))
    text = on_a_terminal(box, "run", "--sim", "h100", "-o", "again.tare", "--", *fixture("e2e_tensors"))
    check("\r\x1b[Ktare: reading" in text, repr(text))


if __name__ == "__main__":
    main()
