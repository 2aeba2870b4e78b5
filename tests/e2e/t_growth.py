#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What grows is told, and nothing else: programs that leak, and programs that look as if they did.

    TARE_E2E_BUILD=build tests/e2e/t_growth.py CASE
"""

import json
import os
import subprocess

from harness import IS_LONG, MIB, PYTHON, ROOT, WRAPPER, Skip, case, check, check_equal, fixture, main, needs_torch

PROGRAM = os.path.join(ROOT, "tests", "e2e", "python", "growth.py")
PAUSE_MS = "40"

# Programs of fixtures/growing.c, and what grows in them.
DRIVER = (
    ("leak-allocations", "allocations"),
    ("leak-streams", "streams and events"),
    ("leak-modules", "kernel code"),
    ("leak-pool", "asynchronous pools"),
    ("leak-pinned", "pinned memory"),
    ("leak-by-step", "allocations"),
    ("leak-late", "allocations"),
    ("leak-host", "resident memory"),
    ("scratch", None),
    ("warm-up", None),
    ("ring", None),
    ("saw", None),
    ("streams", None),
    ("pool", None),
    ("twice", None),
)
# Of growth.py those that the quick run records, too.
QUICK = ("quick-steps-leak", "quick-steps-with-a-ring", "quick-steps-with-a-cache", "quick-steps-that-end-an-epoch", "outputs-with-their-graph", "leak-that-begins-late", "cache-that-fills", "outputs-of-an-epoch")


def growth(box, rec="rec.tare"):
    text, done = box.tare("report", rec), box.tare("report", rec, "--json")
    check_equal((text.code, done.code), (0, 0), text, done)
    rows = json.loads(done.out)["growth"]
    check_equal("what grows" in text.out, bool(rows), text.out)
    if WRAPPER:  # an emulator's own memory grows, as it translates more and more
        rows = [row for row in rows if row["what"] != "resident memory"]
    return rows


def check_growth(rows, what):
    if what is None:
        check_equal(rows, [])
        return
    check(any(row["what"] == what for row in rows), what, rows)
    for row in rows:
        check(.5 <= row["confidence"] <= .99 and row["bytes_per_second"] > 0 and row["bytes"] > 0, row)


def define_driver(name, what):
    def run(box):
        if WRAPPER and what == "resident memory":
            raise Skip("what is resident is the emulator's, too")
        box.record(fixture("e2e_growing") + [name, PAUSE_MS])
        check_growth(growth(box), what)

    run.__name__ = "driver_" + name.replace("-", "_")
    case(run)


def define_torch(name, what):
    def run(box):
        needs_torch()
        box.record([PYTHON, PROGRAM, name], sim=None, env={"PYTHONDONTWRITEBYTECODE": "1"}, timeout=300)
        check_growth(growth(box), what)

    run.__name__ = "torch_" + name.replace("-", "_")
    case(run)


def programs():
    done = subprocess.run([PYTHON, PROGRAM, "--list"], capture_output=True, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


for each in DRIVER:
    define_driver(*each)
for program, what in programs():
    if IS_LONG or program in QUICK:
        define_torch(program, None if what == "-" else what)


@case
def by_the_step_where_phases_are_steps(box):
    box.record(fixture("e2e_growing") + ["leak-by-step", "10"])
    rows = growth(box)
    check_equal([(row["what"], row["device"]) for row in rows], [("allocations", 0)])
    check(abs(rows[0]["bytes_per_step"] - 2 * MIB) < .05 * MIB and "leak_by_step" in rows[0]["line"], rows)


@case
def by_the_step_of_training(box):
    needs_torch()
    box.record([PYTHON, PROGRAM, "sequence-that-grows"], sim=None, env={"PYTHONDONTWRITEBYTECODE": "1"}, timeout=300)
    rows = growth(box)
    check_equal([(row["what"], row["device"]) for row in rows], [("tensors", None)])
    check(abs(rows[0]["bytes_per_step"] - 64 * 128 * 4) < 1000 and "growth.py" in rows[0]["line"], rows)


@case
def with_the_module_that_it_is_for(box):
    """What a layer keeps of itself is that layer's; what a whole network leaves is its own."""
    needs_torch()
    for name, module in (("layer-that-remembers", "remembers"), ("outputs-with-their-graph", "net")):
        box.record([PYTHON, PROGRAM, name], sim=None, env={"PYTHONDONTWRITEBYTECODE": "1"}, timeout=300, options=["-f"])
        rows = growth(box)
        check_equal([row["module"] for row in rows], [module], name)
        check("in %s · tensors" % module in box.tare("report", "rec.tare").out, name)


@case
def of_a_compacted_recording_the_same(box):
    box.record(fixture("e2e_growing") + ["leak-allocations", PAUSE_MS])
    before = growth(box)
    done = box.tare("compact", "rec.tare")
    check_equal(done.code, 0, done)
    check_equal(growth(box), before)
    box.drop_events()
    check_equal(growth(box), before)


main()
