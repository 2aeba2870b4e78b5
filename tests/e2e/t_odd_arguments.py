#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Command lines that nobody means: every option of every command with odd values, instants drawn at random. Each ends
by itself, soon, with an exit code of tare's, and what it prints is plain."""

import os
import random
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

from harness import IS_LONG, PATIENCE, case, check, fixture, main, needs_exec, tare_argv

SECONDS = 60
CODES = {0, 1, 2, 3, 125, 126, 127}
VALUES = ["", " ", "-", "--", "-1", "0", "1", "99999999999999999999999", "-9223372036854775809", "1e309", "nan", "0x7f",
          "1..2:0", "a=b=c", "=", ",", "%s%n", "\udcff\udcfe", "\x1b[2J", "train.py:0", "train.py:99999999999-1", "[", "{",
          "/", "/dev/null/x", "2TiBs", "18446744073709551615GiB", "9" * 400, "x" * 70000]
FEW = ["", "-1", "99999999999999999999999", "nan", "\udcff\udcfe", "=", "x" * 70000]

# What each is given besides; {} where the option goes.
LINES = {
    "run": ["{}", "--sim", "h200", "--", "true"],
    "record": ["{}", "--sim", "h200", "--", "true"],
    "report": ["rec.tare", "{}"],
    "sweep": ["--sim", "h200", "--grid", "a=1", "{}", "--", "true"],
    "dump": ["rec.tare", "{}"],
    "info": ["rec.tare", "{}"],
    "ctl": ["{}", "rec.tare"],
    "doctor": ["{}"],
    "calibrate": ["{}"],
    "env": ["{}"],
    "fit": ["t.csv", "-t", "y", "{}"],
    "plan": ["t.csv", "-t", "y", "--vram", "1GiB", "{}"],
    "graphs": ["choose", "{}"],
    "demo": ["{}"],
    "help": ["{}"],
}
COSTLY = {"run", "record", "sweep", "demo", "calibrate", "doctor"}  # what starts programs: fewer values


def options(box, command):
    """(name, whether it takes a value), from the help that the same table makes."""
    text = box.tare(command, "--help").out
    found = re.findall(r"^ {2,6}(?:-\w, )?--([a-z][\w-]*)(?:[ =]?(\S.*?))?(?: {2,}|$)", text, re.M)
    check(found, "no options in the help of " + command)
    return [(name, bool(value)) for name, value in found if name != "help"]


def prepare(box):
    needs_exec()
    box.record(fixture("e2e_alloc"))
    with open(box.path("t.csv"), "w", encoding="ascii") as file:
        file.write("a,y\n" + "".join("%d,%d\n" % (n, 3 * n + 1) for n in range(1, 9)))


def ends_well(box, argv):
    """None, or what is wrong with it."""
    shown = " ".join(ascii(word[:60]) for word in argv)
    try:
        done = subprocess.run(tare_argv(*argv), cwd=box.dir, env=box.environment(None, True), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS * PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        return shown + ": does not end"
    except OSError:
        return None  # longer than a command line can be
    said = done.stdout + done.stderr
    if done.returncode not in CODES:
        return "%s: exit code %d\n%s" % (shown, done.returncode, ascii(said[-2000:]))
    if b"runtime error:" in said or b"Sanitizer" in said:
        return "%s: %s" % (shown, ascii(said[:2000]))
    if b"\x1b" in said:
        return "%s: what it prints steers the terminal: %s" % (shown, ascii(said[:400]))
    if done.returncode == 2 and not done.stderr.strip():
        return shown + ": a mistake without a word"
    return None


def try_all(box, lines):
    with ThreadPoolExecutor(max_workers=min(4, os.cpu_count() or 1)) as pool:
        wrong = [text for text in pool.map(lambda argv: ends_well(box, argv), lines) if text]
    print("# %d command lines" % len(lines))
    check(not wrong, "\n".join(wrong[:10]))


def filled(command, words):
    at = LINES[command].index("{}")
    return [command] + LINES[command][:at] + words + LINES[command][at + 1:]


@case
def every_option_with_odd_values(box):
    prepare(box)
    lines = []
    for command in LINES:
        for name, takes_value in options(box, command):
            values = (FEW if command in COSTLY and not IS_LONG else VALUES) if takes_value else [None]
            for value in values:
                lines.append(filled(command, ["--" + name] + ([] if value is None else [value])))
            lines.append([command, "--" + name])  # no value, or no operand
            lines.append(filled(command, ["--%s=" % name]))
    try_all(box, lines)


@case
def operands_and_words_that_are_none(box):
    prepare(box)
    lines = [[command, value] for command in LINES if command not in COSTLY for value in VALUES]
    lines += [[value] for value in VALUES if value not in ("-", "--")]
    try_all(box, lines)


@case
def instants_drawn_at_random(box):
    prepare(box)
    draw = random.Random(7)
    parts = ["peak", "end", "tensors", "host", "oom", "snapshot", "phase", ":", "#", "+", "-", ".", "1", "0", "9" * 30,
             "e400", "ms", "us", "ns", "s", "step", "/", " ", "\udcff", "\u00b5s", "%", "nan", "inf", "begin", ""]
    lines = [["report", "rec.tare", "--at", "".join(draw.choices(parts, k=draw.randint(1, 6)))]
             for _ in range(4000 if IS_LONG else 400)]
    try_all(box, lines)


main()
