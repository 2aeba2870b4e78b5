#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tare top: a screen in a terminal of the test's own, and the same once, as text and as data."""

import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
import unicodedata

from harness import (MIB, case, check, check_equal, check_says, fixture, leaves, main, needs_exec, program_of,
                     record_args, tare_argv)


class Screen:
    """What a terminal shows, of the sequences that tare writes. Anything else is a mistake."""

    def __init__(self, columns, lines):
        self.columns, self.lines = columns, lines
        self.is_other_page = False  # the one that programs use
        self.is_cursor_shown = self.is_wrapping = True
        self.pending = ""
        self.tones = set()
        self.scrolled = self.too_wide = 0
        self.clear()

    def clear(self):
        self.cells = [[" "] * self.columns for _ in range(self.lines)]
        self.x = self.y = 0

    def text(self):
        return ["".join(line).rstrip() for line in self.cells]

    def put(self, char):
        width = 0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        if self.x + width > self.columns:
            self.too_wide += 1
            return
        for i in range(width):
            self.cells[self.y][self.x + i] = char if i == 0 else ""
        self.x += width

    def sequence(self, what, last):
        if last == "H":
            row, column = (what.split(";") + ["1"])[:2]
            self.y, self.x = int(row or 1) - 1, int(column) - 1
            check(self.y < self.lines and self.x < self.columns, "the cursor left the screen", what, last)
        elif last == "K" and what == "2":
            self.cells[self.y] = [" "] * self.columns
        elif last == "J" and what == "2":
            self.clear()
        elif last == "m":
            self.tones.add(what)
        elif last in "hl" and what == "?1049":
            self.is_other_page = last == "h"
        elif last in "hl" and what == "?25":
            self.is_cursor_shown = last == "h"
        elif last in "hl" and what == "?7":
            self.is_wrapping = last == "h"
        else:
            check(False, "an unknown sequence", repr(what), last)

    def feed(self, text):
        text = self.pending + text
        self.pending = ""
        at = 0
        while at < len(text):
            if text[at] == "\x1b":
                found = re.compile(r"\x1b\[([?0-9;]*)([@-~])").match(text, at)
                if not found:
                    check(len(text) - at < 16, "no sequence", repr(text[at:at + 20]))
                    self.pending = text[at:]
                    return
                self.sequence(*found.groups())
                at = found.end()
                continue
            if text[at] == "\n":
                self.scrolled += self.y == self.lines - 1
            check(text[at] >= " " or not self.is_other_page, "a control character", repr(text[at]))
            if text[at] >= " ":
                self.put(text[at])
            at += 1


class Top:
    """tare top on a terminal of so many columns and lines."""

    def __init__(self, box, columns=80, lines=24, args=(), env=None):
        self.screen = Screen(columns, lines)
        self.seen = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(box.dir)
            argv = tare_argv("top", "--interval", "100ms", *(args or (".",)))
            os.execve(argv[0], argv, box.environment(dict({"TERM": "xterm", "LANG": "C.UTF-8"}, **(env or {}))))
        self.resize(columns, lines)
        self.modes = termios.tcgetattr(self.fd)

    def resize(self, columns, lines):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        if (columns, lines) != (self.screen.columns, self.screen.lines):
            before = self.screen
            self.screen = Screen(columns, lines)
            self.screen.is_other_page = before.is_other_page

    def read(self, seconds=0.1):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if not select.select([self.fd], [], [], 0.02)[0]:
                continue
            try:
                part = os.read(self.fd, 65536)
            except OSError:
                return False
            if not part:
                return False
            self.seen += part
            self.screen.feed(part.decode("utf-8", "strict") if not self.is_cut(part) else self.whole(part))
        return True

    @staticmethod
    def is_cut(part):
        try:
            part.decode("utf-8")
        except UnicodeDecodeError:
            return True
        return False

    def whole(self, part):
        """A character may lie in two readings: the rest of it comes at once."""
        for _ in range(4):
            more = os.read(self.fd, 1)
            self.seen += more
            part += more
            if not self.is_cut(part):
                break
        return part.decode("utf-8")

    def wait_for(self, pattern, seconds=20, without=False):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            text = "\n".join(self.screen.text())
            if bool(re.search(pattern, text)) != without:
                self.check_sound()
                return text
            if not self.read(0.05):
                break
        check(False, "the screen %s %r" % ("still shows" if without else "does not show", pattern),
              *self.screen.text())

    def check_sound(self):
        check_equal((self.screen.scrolled, self.screen.too_wide), (0, 0), *self.screen.text())

    def type(self, keys):
        os.write(self.fd, keys.encode())

    def end(self):
        """How it ended; the terminal is as it was."""
        while self.read(1):
            pass
        _, status = os.waitpid(self.pid, 0)
        check(not self.screen.is_other_page, "the other page is still shown")
        check(self.screen.is_cursor_shown and self.screen.is_wrapping, "cursor and wrapping are not as they were")
        os.close(self.fd)
        return status


class Led:
    """e2e_steps, recorded, and led by lines."""

    def __init__(self, box, rec="rec.tare"):
        self.box = box
        self.running = box.start(tare_argv(*record_args(fixture("e2e_steps"), rec=rec)), stdin=subprocess.PIPE)
        check_equal(self.running.stdout.readline(), b"ready\n")

    def say(self, line):
        self.running.stdin.write(line.encode() + b"\n")
        self.running.stdin.flush()

    def alloc(self, size):
        self.say("alloc %d" % size)
        check_equal(self.running.stdout.readline(), b"took\t%d\n" % size)

    def end(self):
        self.say("quit")
        self.running.communicate(timeout=60)


def rows_of(box, *args):
    done = box.tare("top", "--json", *args)
    check_equal(done.code, 0, done)
    return json.loads(done.out)["rows"]


def check_sums(rows):
    """A row is the sum of its parts."""
    for row in rows:
        parts = [r["bytes"] for r in rows if r["parent"] == row["row"] and r["part"]]
        if parts and row["bytes"] is not None:
            check_equal(sum(parts), row["bytes"], row, rows)


def settled(box, wanted, *args):
    """The rows, once the ledger has so many bytes of allocations."""
    for _ in range(100):
        rows = rows_of(box, *args)
        if any(r["path"] and r["path"].endswith("/allocations") and r["bytes"] == wanted for r in rows):
            return rows
        time.sleep(0.05)
    check(False, "the allocations do not come", rows)


@case
def rows_are_those_of_the_report(box):
    needs_exec()
    led = Led(box)
    led.alloc(100 * MIB)
    led.alloc(30 * MIB)
    rows = settled(box, 130 * MIB, ".")
    check_sums(rows)
    device = box.report()["devices"][0]
    gpu = [r for r in rows if r["kind"] == "gpu"]
    check_equal([(g["bytes"], g["total_bytes"], g["uuid"]) for g in gpu],
                [(device["used_bytes"], device["total_bytes"], device["uuid"])])
    ledger = {r["path"]: r["bytes"] for r in device["accounts"] if r["bytes"] and r["path"].startswith("process:")}
    shown = {r["path"]: r["bytes"] for r in rows if r["path"]}
    for path, size in shown.items():
        check_equal(ledger[path], size, path)
    program = [r for r in rows if r["kind"] == "process"]
    check_equal(program[0]["bytes"], sum(r["bytes"] for r in leaves(device) if r["path"].startswith("process:")))
    check_equal(program[0]["pid"], program_of(led.running))
    check_equal([r["bytes"] for r in rows if r["kind"] == "unexplained"], [device["unexplained_bytes"]])
    text = box.tare("top", "--once", ".")
    check_says(text.out, "allocations", "130.0", "unexplained", "rec.tare")
    led.end()


@case
def a_screen_of_any_size(box):
    needs_exec()
    led = Led(box)
    led.alloc(100 * MIB)
    for columns, lines in ((80, 24), (40, 10), (200, 50), (300, 80)):
        top = Top(box, columns, lines)
        top.wait_for("GPU 0")
        top.type("G")
        top.wait_for(r">.*free")
        top.type("g")
        top.wait_for(r">.*GPU 0")
        if lines >= 24:
            top.wait_for(r"allocations .*100\.0")
        top.type("q")
        check_equal(top.end(), 0)
    led.end()


main()
