#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tare top: a screen in a terminal of the test's own, and the same once, as text and as data."""

import json
import os
import re
import signal
import subprocess
import termios
import time
import unicodedata

from harness import (MIB, PATIENCE, case, check, check_equal, check_says, fixture, leaves, main, needs_exec, program_of,
                     record_args, tare_argv, wait_until)
from terminal import OnTerminal


class Screen:
    """What a terminal shows, of the sequences that tare writes. Anything else is a mistake."""

    def __init__(self, columns, lines):
        self.columns, self.lines = columns, lines
        self.is_other_page = False  # the one that programs use
        self.is_cursor_shown = self.is_wrapping = True
        self.pending = ""
        self.tones = set()
        self.scrolled = self.too_wide = 0
        self.is_new = False  # it had another size a moment ago, and what comes may be for that
        self.clear()

    def clear(self):
        self.cells = [[" "] * self.columns for _ in range(self.lines)]
        self.x = self.y = 0

    def text(self):
        return ["".join(line).rstrip() for line in self.cells]

    def put(self, char):
        width = 0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        if self.x + width > self.columns:
            self.too_wide += not self.is_new
            return
        for i in range(width):
            self.cells[self.y][self.x + i] = char if i == 0 else ""
        self.x += width

    def sequence(self, what, last):
        if last == "H":
            row, column = (what.split(";") + ["1"])[:2]
            self.y, self.x = int(row or 1) - 1, int(column) - 1
            check(self.is_new or (self.y < self.lines and self.x < self.columns), "the cursor left the screen", what)
            self.y, self.x = min(self.y, self.lines - 1), min(self.x, self.columns - 1)
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


class Top(OnTerminal):
    """tare top on a terminal of so many columns and lines."""

    def __init__(self, box, columns=80, lines=24, args=(), env=None):
        self.screen = Screen(columns, lines)
        self.seen = b""
        self.start(box, tare_argv("top", "--interval", "100ms", *(args or (".",))), env)
        self.resize(columns, lines)
        self.modes = termios.tcgetattr(self.fd)

    def resize(self, columns, lines):
        self.set_size(columns, lines)
        if (columns, lines) != (self.screen.columns, self.screen.lines):
            before = self.screen
            self.screen = Screen(columns, lines)
            self.screen.is_other_page = before.is_other_page
            self.screen.is_cursor_shown, self.screen.is_wrapping = before.is_cursor_shown, before.is_wrapping
            self.screen.is_new = True
            self.read(0.5)
            self.screen.is_new = False

    def read(self, seconds=0.1):
        for part in self.parts(seconds):
            if part is None:
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
        until = time.monotonic() + seconds * PATIENCE
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
        until = time.monotonic() + 2 * PATIENCE
        while self.read(1) and time.monotonic() < until:
            pass
        if time.monotonic() >= until:
            os.kill(self.pid, signal.SIGKILL)
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
        while (line := self.running.stdout.readline()) != b"took\t%d\n" % size:
            check(line, "it does not say that it took %d" % size)

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
    def has_them():
        rows = rows_of(box, *args)
        return any(r["path"] and r["path"].endswith("/allocations") and r["bytes"] == wanted for r in rows) and rows

    return wait_until(has_them, "the allocations do not come")


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


def selected(top):
    return [line for line in top.screen.text() if line.startswith(">")]


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
        top.type("?")
        check("r read all now" in top.wait_for("read all now").replace("r         ", "r "), "not all keys are told")
        top.type("?")
        top.wait_for(r">.*GPU 0")
        if lines >= 24:
            top.wait_for(r"allocations .*100\.0")
        top.type("q")
        check_equal(top.end(), 0)
    led.end()


@case
def keys_do_what_help_says(box):
    needs_exec()
    led = Led(box)
    led.alloc(100 * MIB)
    top = Top(box, 100, 40)
    text = top.wait_for(r"allocations .*100\.0")
    check("▸ allocations" in text and "e2e_steps (" not in text, text)
    top.type("?")
    top.wait_for("quit  .*help")
    top.type("?")
    top.wait_for("GPU 0")
    for key in ("j", "\x1b[B", "\x1bOB", "j"):  # down to the allocations
        top.type(key)
    top.wait_for(r">\s+▸ allocations")
    top.type("\r")
    top.wait_for(r">\s+▾ allocations")
    top.type("\x1b[D")
    top.wait_for(r">\s+▸ allocations")
    top.type("\x1b[D")  # to the process, which is open
    top.wait_for(r">\s+▾ \d+ e2e_steps")
    top.type("a")
    text = top.wait_for(r">\s+▸ \d+ e2e_steps")
    check("context" not in text, text)
    top.type("s")
    top.wait_for("sort: name")
    top.type("p")
    top.wait_for("PAUSED")
    led.alloc(28 * MIB)
    top.read(0.5)
    check("PAUSED" in "".join(top.screen.text()) and " 626.8 " in selected(top)[0], *top.screen.text())
    top.type("a")
    top.wait_for(r"allocations .*100\.0")  # of the moment at which it was paused
    top.type("p")
    top.wait_for(r"allocations .*128\.0")
    top.type("/nobody\r")
    text = top.wait_for("1 process that the filter leaves out")
    check("context" not in text, text)
    top.type("\x1b")
    top.wait_for("context")
    top.type("/e2e\x7f2e")
    top.wait_for('filter: e22e_')
    top.type("\x1b\x1b")
    top.resize(60, 20)
    os.kill(top.pid, signal.SIGWINCH)
    top.wait_for("GPU 0")
    check(any("EVIDENCE" in line for line in top.screen.text()), *top.screen.text())
    top.type("q")
    check_equal(top.end(), 0)
    led.end()


@case
def the_terminal_is_as_it_was(box):
    needs_exec()
    led = Led(box)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGSEGV, None):
        top = Top(box)
        top.wait_for("GPU 0")
        check(top.screen.is_other_page and not top.screen.is_cursor_shown and not top.screen.is_wrapping)
        during = termios.tcgetattr(top.fd)
        check(not during[3] & termios.ECHO, "it echoes keys")
        if number is None:
            top.type("\x03")  # Ctrl-C, by the terminal
            number = signal.SIGINT
        else:
            os.kill(top.pid, number)
        top.read(0.5)
        check(termios.tcgetattr(top.fd)[3] & termios.ECHO, "keys are not echoed again", number)
        status = top.end()
        check(os.WIFSIGNALED(status) and os.WTERMSIG(status) == number, number, status)
    led.end()


@case
def a_stopped_one_gives_the_terminal_back_and_takes_it_again(box):
    needs_exec()
    led = Led(box)
    top = Top(box)
    top.wait_for("GPU 0")
    os.kill(top.pid, signal.SIGTSTP)
    os.waitpid(top.pid, os.WUNTRACED)
    top.read(0.2)
    check(not top.screen.is_other_page and top.screen.is_cursor_shown, "a stopped one has the terminal")
    os.kill(top.pid, signal.SIGCONT)
    top.wait_for("GPU 0")
    top.read(0.3)
    check(top.screen.is_other_page, "it did not take the terminal again")
    top.type("q")
    check_equal(top.end(), 0)
    led.end()


@case
def a_program_that_is_killed_goes_from_the_screen(box):
    needs_exec()
    led = Led(box)
    top = Top(box, args=("--dir", ".", "--filter", "rec.tare"))
    top.wait_for("e2e_steps")
    os.kill(program_of(led.running), signal.SIGKILL)
    led.running.communicate(timeout=60)
    top.wait_for("e2e_steps", without=True, seconds=40)
    top.type("q")
    check_equal(top.end(), 0)


@case
def the_heap_is_no_gpu(box):
    needs_exec()
    running = box.start(tare_argv("record", "-o", "rec.tare", "--host=full", "--", "/bin/sh", "-c", "echo ready; read -r word"), stdin=subprocess.PIPE)
    check_equal(running.stdout.readline(), b"ready\n")
    until, said = time.monotonic() + 20 * PATIENCE, ""
    while "heap · rec.tare" not in said and time.monotonic() < until:
        said = box.tare("top", "--once", ".", env={"TARE_SIM_DIR": None}).out
    check_says(said, "· 0 GPUs · 1 process, 1 recorded", "heap · rec.tare")
    running.communicate(b"\n", timeout=60)


@case
def a_simulated_machine_that_went_is_no_real_one(box):
    needs_exec()
    led = Led(box)
    top = Top(box, args=(".",), env={"TARE_SIM_DIR": None})
    top.wait_for(r"GPU 0 .*\(simulated\)")
    led.end()
    top.wait_for("no GPU is seen here", seconds=60)
    top.read(7)  # it has been looked for once more
    check(not any("GPU 0" in line for line in top.screen.text()), *top.screen.text())
    top.type("q")
    check_equal(top.end(), 0)


@case
def without_colours_where_nobody_wants_them(box):
    needs_exec()
    led = Led(box)
    for env, has_tones in (({}, True), ({"NO_COLOR": "1"}, False), ({"LANG": "C"}, True)):
        top = Top(box, env=env)
        top.wait_for("GPU 0")
        top.wait_for("context")
        check_equal(bool(top.screen.tones - {"0"}), has_tones, env, top.screen.tones)
        if env.get("LANG"):
            check(all(ord(c) < 128 for line in top.screen.text() for c in line), *top.screen.text())
        top.type("q")
        check_equal(top.end(), 0)
    top = Top(box, env={"TERM": "dumb"})
    top.read(3)
    check(b"\x1b" not in top.seen and b"context" in top.seen, top.seen)
    check_equal(top.end(), 0)
    led.end()


@case
def names_of_any_kind_stay_on_their_line(box):
    needs_exec()
    name = "a\x1b[31mb\nc\u202ed字字字字\udcff\U0001f600e\u0301"
    rec = name + ".tare"
    led = Led(box, rec=rec)
    led.alloc(MIB)
    for columns in (40, 80, 200):
        top = Top(box, columns, 24, args=(rec,))
        text = top.wait_for(r"allocations .*1\.0")
        check_equal(top.screen.tones - {"0", "1", "2", "33"}, set())
        check("字" in text or columns == 40, text)
        top.type("q")
        check_equal(top.end(), 0)
    led.end()


@case
def what_is_not_there_is_said(box):
    none = {"TARE_SIM_DIR": None}
    os.mkdir(box.path("empty"))
    done = box.tare("top", "--once", "empty", env=none)
    check_equal(done.code, 0, done)
    check_says(done.out, "0 GPUs", "no GPU is seen here", "tare run -- CMD")
    done = box.tare("top", "--json", "empty", env=none)
    check_equal(json.loads(done.out)["rows"], [])
    for words, said in ((("nowhere",), "there is no such folder"), (("--interval", "1ms"), "100ms at least"),
                        (("--dir", "empty", "empty"), "--dir adds")):
        done = box.tare("top", *words)
        check_equal(done.code, 2, done)
        check_says(done.err, said)


@case
def a_damaged_recording_is_one_line(box):
    needs_exec()
    led = Led(box)
    led.alloc(MIB)
    os.mkdir(box.path("bad.tare"))
    for name in ("recording.json", "control", "1-0.events", "tare.events", "segments.json"):
        with open(box.path("bad.tare", name), "wb") as file:
            file.write(os.urandom(5000))
    rows = rows_of(box, "rec.tare", "bad.tare")
    check(any(r["kind"] == "process" for r in rows), rows)
    done = box.tare("top", "--once", "rec.tare", "bad.tare")
    check_says(done.out, "bad.tare cannot be read:", "e2e_steps")
    log = [n for n in os.listdir(box.path("rec.tare")) if n.endswith("-0.events")][0]
    top = Top(box, args=("rec.tare", "bad.tare"))
    top.wait_for("allocations")
    with open(box.path("rec.tare", log), "r+b") as file:
        file.seek(5000)
        file.write(b"\xff" * 3000)
    led.alloc(MIB)
    top.wait_for("bad.tare cannot be read")
    top.read(1)
    top.check_sound()
    top.type("q")
    check_equal(top.end(), 0)
    led.end()
    box.unchecked["rec.tare"] = "it is damaged on purpose"


@case
def a_ledger_that_grows_is_followed(box):
    """What came since the last look is folded; in the end it says what the report says."""
    needs_exec()
    led = Led(box)
    top = Top(box, 100, 40)
    for part in range(4):
        led.say("events 1200")
        led.alloc(MIB)
        top.wait_for(r"allocations .*%d\.0 " % (part + 1))
        time.sleep(1)
    device = box.report()["devices"][0]
    for row in device["accounts"]:
        if row["leaf"] and row["path"].startswith("process:") and row["bytes"] > MIB and row["path"].count("/") == 1:
            top.wait_for(r"\b%s\b" % "{:,.1f}".format(int(row["bytes"] * 10 / MIB + 0.5) / 10).replace(".", r"\."))
    top.type("q")
    check_equal(top.end(), 0)
    led.end()


main()
