#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tare run --live: lines below a program that goes on using its terminal, and a terminal that is as before at the end."""

import os
import re
import signal
import termios
import time

from harness import (PATIENCE, case, check, check_equal, check_says, fixture, main, needs_exec, needs_program,
                     tare_argv, wait_until)
from terminal import OnTerminal


class Terminal:
    """What a terminal shows, with a region that scrolls and two pages, as xterm does it."""

    def __init__(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.pages = [self.blank(), self.blank()]
        self.page = 0
        self.x = self.y = self.top = 0
        self.bottom = rows - 1
        self.saved = (0, 0)
        self.pending = ""
        self.is_shown = True  # the cursor

    def blank(self):
        return [[" "] * self.columns for _ in range(self.rows)]

    @property
    def cells(self):
        return self.pages[self.page]

    def text(self):
        return ["".join(line).rstrip() for line in self.cells]

    def down(self):
        if self.y == self.bottom:
            del self.cells[self.top]
            self.cells.insert(self.bottom, [" "] * self.columns)
        else:
            self.y = min(self.y + 1, self.rows - 1)

    def erase(self, y, x):
        self.cells[y][x:] = [" "] * (self.columns - x)

    def sequence(self, what, last):
        numbers = [int(n or 0) for n in what.lstrip("?").split(";")]
        if last == "H":
            self.y = min(max(numbers[0], 1), self.rows) - 1
            self.x = min(max((numbers + [1])[1], 1), self.columns) - 1
        elif last == "A":
            self.y = max(self.y - max(numbers[0], 1), 0)
        elif last == "K" and not numbers[0]:
            self.erase(self.y, self.x)
        elif last == "J" and not numbers[0]:
            self.erase(self.y, self.x)
            for y in range(self.y + 1, self.rows):
                self.erase(y, 0)
        elif last == "r":
            self.top, self.bottom = 0, self.rows - 1
            if what:
                self.top, self.bottom = numbers[0] - 1, min(numbers[1], self.rows) - 1
            self.x = self.y = 0
        elif last in "hl" and what == "?1049":
            self.page = int(last == "h")
        elif last in "hl" and what == "?25":
            self.is_shown = last == "h"
        else:
            check(last in "mhl", "an unknown sequence", repr(what), last)

    def feed(self, text):
        text, at = self.pending + text, 0
        self.pending = ""
        while at < len(text):
            if text[at] == "\x1b":
                found = re.compile(r"\x1b(?:\[([?0-9;]*)([@-~])|([78D]))").match(text, at)
                if not found:
                    check(len(text) - at < 16, "no sequence", repr(text[at:at + 20]))
                    self.pending = text[at:]
                    return
                if found.group(3) == "7":
                    self.saved = (self.x, self.y)
                elif found.group(3) == "8":
                    self.x, self.y = self.saved
                elif found.group(3):
                    self.down()
                else:
                    self.sequence(found.group(1), found.group(2))
                at = found.end()
                continue
            if text[at] == "\n":
                self.down()
            elif text[at] == "\r":
                self.x = 0
            elif text[at] >= " ":
                if self.x == self.columns:
                    self.down()
                    self.x = 0
                self.cells[self.y][self.x] = text[at]
                self.x += 1
            at += 1


class Running(OnTerminal):
    """A command, and what its terminal shows."""

    def __init__(self, box, argv, columns=100, rows=24, env=None):
        self.seen = ""
        self.start(box, argv, {"NO_COLOR": "1", **(env or {})}, delay=0.2)
        self.resize(columns, rows)
        self.modes = termios.tcgetattr(self.fd)

    def resize(self, columns, rows):
        self.screen = Terminal(columns, rows)
        self.set_size(columns, rows)

    def read(self, seconds):
        for part in self.parts(seconds):
            if part is None:
                return False
            part = part.decode("utf-8", "replace")
            self.seen += part
            self.screen.feed(part)
        return True

    def wait(self, what, is_so, seconds=30):
        until = time.monotonic() + seconds * PATIENCE
        while not is_so():
            check(self.read(0.05) and time.monotonic() < until, what, self.size(), *self.screen.text())

    def wait_for(self, pattern):
        self.wait("the screen does not show %r" % pattern,
                  lambda: re.search(pattern, "\n".join(self.screen.text())))

    def wait_size(self, rows):
        self.wait("it does not become %d rows high" % rows, lambda: self.size()[0] == rows)

    def type(self, keys):
        os.write(self.fd, keys.encode())

    def check_lines(self, is_there=True):
        """The last two lines are tare's, and only those."""
        self.read(0.1)
        text = self.screen.text()
        check_equal([i for i, line in enumerate(text) if line.startswith("tare  ")],
                    [self.screen.rows - 2] if is_there else [], *text)
        check_equal(self.screen.bottom, self.screen.rows - (3 if is_there else 1), *text)

    def end(self):
        """Its exit code; the terminal is as it was."""
        until = time.monotonic() + 2 * PATIENCE
        rows = self.screen.rows
        while self.read(0.2) and time.monotonic() < until:
            pass
        status = os.waitpid(self.pid, 0)[1]
        check_equal((self.screen.bottom, self.screen.page, self.screen.is_shown), (rows - 1, 0, True))
        check(not any(line.startswith("tare  ") for line in self.screen.text()), *self.screen.text())
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status)


def live(box, script, *args, **more):
    return Running(box, tare_argv("run", "--live", "-f", "-o", "rec.tare", *args, "--", "sh", "-c", script), **more)


@case
def a_program_prints_above_its_lines(box):
    needs_exec()
    running = live(box, "seq 50; stty size; read x; printf 'no end'; read x; stty size; exit 3")
    running.wait_for(r"22 100\n\ntare  ")
    running.check_lines()
    check_equal(running.size(), (22, 100))
    text = running.screen.text()
    check_equal(text[:21], [str(n) for n in range(31, 51)] + ["22 100"], *text)
    running.type("x\r")
    running.wait_for("no end")
    running.read(1.2)  # is drawn again
    running.check_lines()
    check_equal(running.screen.x, len("no end"))
    running.type("x\r")
    check_equal(running.end(), 3)
    check_says(running.seen, "22 100", "exit 3")
    check("no lines for" not in running.seen, running.seen)


@case
def what_a_program_has(box):
    needs_exec()
    running = Running(box, tare_argv("run", "--live", "-o", "rec.tare", "--sim", "h200", "--", *fixture("e2e_steps")))
    running.wait_for("ready")
    running.type("alloc %d\r" % (100 << 20))
    running.wait_for(r"tare  GPU 0 \(simulated\)  [67]\d\d\.\d of 143,771 MiB, 0\.\d % · peak [67]\d\d\.\d")
    running.wait_for(r"most: ")
    running.check_lines()
    running.type("quit\r")
    check_equal(running.end(), 0)
    check_says(running.seen, "used (what nvidia-smi")


@case
def a_small_terminal_has_none_and_one_that_grows_has(box):
    needs_exec()
    running = live(box, "echo begun; read x", rows=10)
    running.wait_for("begun")
    running.read(1)
    check("\x1b" not in running.seen and running.size()[0] == 10, repr(running.seen))
    running.resize(100, 15)
    running.wait_size(14)
    running.wait_for("tare  ")
    running.resize(100, 30)
    running.wait_size(28)
    running.wait_for("tare  ")
    running.check_lines()
    running.resize(39, 30)
    running.read(0.5)
    check_equal(running.size(), (30, 39))
    running.type("x\r")
    check_equal(running.end(), 0)
    check("less than 11 rows" in re.sub(r"\s+", " ", running.seen), running.seen)


@case
def a_program_that_has_the_terminal_for_itself(box):
    needs_exec()
    running = live(box, r"echo a; stty -icanon -echo; printf '\033[?1049h\033[1;1Hwhole'; read x; printf '\033[?1049l';"
                   "stty icanon echo; echo b; read x")
    running.wait_size(24)
    running.wait_for("whole")
    running.read(0.7)
    check_equal((running.screen.page, running.screen.bottom), (1, 23))
    running.type("\n")
    running.wait_size(22)
    running.wait_for("tare  ")
    running.check_lines()
    running.type("x\r")
    check_equal(running.end(), 0)
    check_says(running.seen, "had the terminal for itself")


@case
def what_a_killed_program_leaves_is_put_back(box):
    needs_exec()
    running = live(box, r"stty raw -echo; printf '\033[?1049h\033[?25l'; sleep 0.3; kill -9 $$")
    check_equal(running.end(), 137)
    running = live(box, "stty raw -echo; printf more; sleep 1; : >done; sleep 60")
    running.wait("it does not begin", lambda: os.path.exists(os.path.join(box.dir, "done")))
    os.kill(program_below(running.pid), signal.SIGKILL)
    running.read(0.5)
    check_equal(termios.tcgetattr(running.fd), running.modes)
    check_equal(running.end(), 137)


def program_below(pid):
    """The child that is a shell."""
    def shell():
        with open("/proc/%d/task/%d/children" % (pid, pid), encoding="ascii") as file:
            for child in file.read().split():
                with open("/proc/%s/comm" % child, encoding="utf-8") as name:
                    if name.read().strip() == "sh":
                        return int(child)
        return None

    return wait_until(shell, "there is no program")


@case
def an_interrupted_one(box):
    needs_exec()
    running = live(box, "echo begun; trap 'echo got it; exit 5' INT; while :; do sleep 0.1; done")
    running.wait_for("tare  ")
    running.wait_for("begun")
    running.type("\x03")
    check_equal(running.end(), 5)
    check_equal(running.seen.count("got it"), 1)


@case
def a_killed_tare_leaves_the_terminal_as_it_was(box):
    needs_exec()
    run = tare_argv("run", "--live", "-o", "rec.tare", "--", "sh", "-c", "'echo begun; sleep 1'")
    shell = Running(box, ["/bin/sh", "-c", "%s & echo $! >pid; wait; stty size; read x" % " ".join(run)])
    shell.wait_for(r"begun\n(.*\n)*tare  ")
    with open(os.path.join(box.dir, "pid"), encoding="ascii") as file:
        os.kill(int(file.read()), signal.SIGKILL)
    shell.wait_size(24)
    shell.check_lines(False)
    shell.type("x\r")
    shell.end()


@case
def who_draws_may_be_killed(box):
    needs_exec()
    running = live(box, "echo begun; read x; exit 4")
    running.wait_for("tare  ")
    program = program_below(running.pid)
    with open("/proc/%d/task/%d/children" % (running.pid, running.pid), encoding="ascii") as file:
        children = [int(child) for child in file.read().split()]
    for child in children:
        with open("/proc/%d/comm" % child, encoding="utf-8") as file:
            if child != program and file.read().strip() == "tare":
                os.kill(child, signal.SIGKILL)
    running.type("x\r")
    check_equal(running.end(), 4)


@case
def a_stopped_job_gives_its_lines_back(box):
    needs_exec()
    needs_program("bash", "bash")
    bash = Running(box, ["/bin/bash", "--norc", "--noprofile"], env={"PS1": "> ", "HISTFILE": ""})
    bash.wait_for(">")
    bash.type(" ".join(tare_argv("run", "--live", "-o", "rec.tare", "--", "sh", "-c", "'echo begun; read x; exit 3'")) + "\r")
    bash.wait_for(r"\ntare  ")
    bash.type("\x1a")
    bash.wait_for("Stopped")
    bash.check_lines(False)
    check_equal(bash.size()[0], 24)
    bash.type("fg\r")
    bash.wait_size(22)
    bash.wait_for(r"\ntare  ")
    bash.check_lines()
    bash.type("x\r")
    bash.wait_for("exit 3 after")
    bash.type("exit\r")
    check_equal(bash.end(), 3)


@case
def without_a_terminal_it_says_so(box):
    needs_exec()
    done = box.tare("run", "--live", "-o", "rec.tare", "--", "sh", "-c", "echo out; exit 3")
    check_equal((done.code, done.out), (3, "out\n"), done)
    check_says(done.err, "--live: standard error is no terminal")
    check("\x1b" not in done.err, done.err)
    running = live(box, "echo out", env={"TERM": "dumb"})
    check_equal(running.end(), 0)
    check("\x1b" not in running.seen and "--live: " in running.seen, running.seen)


main()
