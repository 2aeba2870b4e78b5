#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Python lines of events: what the recorder reads of each interpreter, against what Python itself says.

Interpreters: /usr/bin/python3, those of pyenv, and those in TARE_TEST_PYTHONS (paths with colons).
"""

import json
import os
import re

from harness import ROOT, case, check, check_equal, check_says, fixture, main, needs
from python_stacks import (PROGRAM, PYTHONS, asked_of, define, embeddable, python_of, record, recorded,
                           version_of)

define()


@case
def offsets_are_those_of_the_headers(box):
    """Each row of layout.def that can be compared here."""
    compared = 0
    for version, python in PYTHONS.items():
        folder = asked_of(python, "sysconfig.get_paths()['include']")
        if not 6 <= int(version_of(python).split(".")[1]) <= 12 or not os.path.exists(folder + "/Python.h"):
            continue
        program = box.path("offsets-" + version)
        done = box.run(["cc", "-w", "-I" + folder, "-I" + folder + "/internal", "-I" + os.path.join(ROOT, "src"),
                        os.path.join(ROOT, "tests", "e2e", "python", "offsets.c"), "-o", program])
        check_equal(done.code, 0, done)
        check_equal(box.run([program]).out, "", "Python " + version)
        compared += 1
    needs(compared, "python3-dev, of 3.6 to 3.12")


def label_rows(box, *more, by="line"):
    done = box.tare("report", "rec.tare", "--at", "end", "--json", "--by", by, *more)
    check_equal(done.code, 0, done)
    return {row["label"]: row for row in json.loads(done.out)["rows"]}, done


@case
def lines_of_libraries_are_not_the_users(box):
    os.makedirs(box.path("venv/lib/python3.11/site-packages/net"))
    with open(box.path("venv/lib/python3.11/site-packages/net/layers.py"), "w") as file:
        file.write("def build(alloc):\n    return alloc()\n")
    with open(box.path("direct.py"), "w") as file:
        file.write("import sys\nsys.path += [%r, %r]\nimport program\nimport net.layers\n"
                   "program.start()\nalloc = program.cu.cuMemAlloc_v2\n"
                   "def main():\n"
                   "    at = program.ctypes.c_uint64()\n"
                   "    size = program.ctypes.c_size_t(0x234567)\n"
                   "    net.layers.build(lambda size=size: 0)\n"
                   "    exec(compile('import functools\\ncall = functools.partial(alloc, at, size)\\ncall()',\n"
                   "         '/x/site-packages/gen.py', 'exec'),\n"
                   "         {'alloc': alloc, 'at': program.ctypes.byref(at), 'size': size})\n"
                   "main()\n"
                   % (os.path.dirname(PROGRAM), box.path("venv/lib/python3.11/site-packages")))
    python_of("system")
    env = {"TRUTH": box.path("truth"), "PYTHONDONTWRITEBYTECODE": "1"}
    box.record(["/usr/bin/python3", "direct.py"], env=env)
    rows, done = label_rows(box)
    mine = [row for row in rows.values() if row["bytes"] == 0x234567]
    check_equal([(row["function"], os.path.basename(row["file"]), row["line"]) for row in mine],
                [("main", "direct.py", 11)], done)
    stacks, done = label_rows(box, by="stack")
    mine = [label for label, row in stacks.items() if row["bytes"] == 0x234567]
    check(len(mine) == 1 and mine[0].startswith("/x/site-packages/gen.py:3 in <module> < "), stacks)


@case
def rows_by_line_sum_to_what_is_explained(box):
    record(box, "system", "plain")
    for at in ("peak", "end"):
        done = box.tare("report", "rec.tare", "--at", at, "--json", "--by", "line")
        report = json.loads(done.out)
        device = report["devices"][0]
        check_equal(sum(row["bytes"] for row in report["rows"]), device["used_bytes"] - device["unexplained_bytes"],
                    done)
    rows, done = label_rows(box)
    check(not any(label == "no line" and row["bytes"] for label, row in rows.items()), done)


@case
def native_lines_have_functions(box):
    box.record(fixture("e2e_alloc"))
    rows, done = label_rows(box)
    check(any(re.match(r"\w+\+0x[0-9a-f]+ in e2e_alloc$|.*/(alloc|fixture)\.c:\d+ in \w+$", label) for label in rows), done)


@case
def lines_outlive_their_events(box):
    python_of("system")
    with open(box.path("many.py"), "w") as file:
        file.write("import sys\nsys.path.append(%r)\nimport program\nprogram.start()\n"
                   "kept = program.alloc()\n"
                   "def churn():\n    for _ in range(12000):\n        at = program.ctypes.c_uint64()\n"
                   "        program.cu.cuMemAlloc_v2(program.ctypes.byref(at), program.ctypes.c_size_t(4096))\n"
                   "        program.cu.cuMemFree_v2(at)\n"
                   "churn()\nlast = program.alloc()\n" % os.path.dirname(PROGRAM))
    env = {"TRUTH": box.path("truth"), "PYTHONDONTWRITEBYTECODE": "1"}
    box.record(["/usr/bin/python3", "many.py"], env=env)
    box.drop_events()
    with open(box.path("truth"), encoding="utf-8") as file:
        truth = [json.loads(line) for line in file]
    rows, done = label_rows(box, by="stack")
    for entry in truth:
        label = " < ".join("%s:%d in %s" % tuple(f) for f in entry["frames"])
        check(label in rows and rows[label]["bytes"] == entry["size"], label, done)


@case
def stacks_can_be_chosen(box):
    python_of("system")
    for stacks, has_native, has_python in (("python", False, True), ("native", True, False), ("both", True, True),
                                           ("none", False, False)):
        rec = stacks + ".tare"
        truth, _ = record(box, "system", "signals", rec=rec, options=["--stacks", stacks])
        events = [(e, frames) for e, frames in recorded(box, rec) if e["asked"] in truth]
        check_equal([bool(e["stack"]) for e, _ in events], [has_native] * len(events), stacks)
        check_equal([frames is not None for _, frames in events], [has_python] * len(events), stacks)
        os.unlink(box.path("truth"))
    done = box.tare("record", "--stacks", "all", "--", "true")
    check_equal(done.code, 2, done)
    check_says(done.err, "--stacks", "python", "native", "both", "none")


@case
def an_interpreter_comes_and_goes(box):
    """Embedded, started, ended and unloaded, twice; calls of the driver before, between and after."""
    text = ("import ctypes, json, os, sys\n"
            "cu = ctypes.CDLL('libcuda.so.1')\n"
            "def alloc(size):\n"
            "    return cu.cuMemAlloc_v2(ctypes.byref(ctypes.c_uint64()), ctypes.c_size_t(size))\n"
            "alloc(0x123456)\n")
    tried = 0
    for version, library, home in embeddable():
        env = {"PYTHONHOME": home}
        if box.run(fixture("e2e_embed", library, text), sim=True, env=env).code:
            continue  # not every Python bears this (3.12.1 aborts)
        rec = "embedded-%s.tare" % version
        done = box.record(fixture("e2e_embed", library, text), rec=rec, env=env)
        events = recorded(box, rec)
        inside = [frames for event, frames in events if event["asked"] == 0x123456]
        outside = [frames for event, frames in events if event["asked"] == 0xfaceb]
        check_equal(inside, [[["<string>", 4, "alloc"], ["<string>", 5, "<module>"]]] * 2, version, done)
        check_equal(outside, [None] * 8, version, done)
        tried += 1
    needs(tried, "libpython3-dev")


@case
def an_interpreter_we_cannot_read_is_left_alone(box):
    """A stand-in for the interpreter says what TARE_FAKE_PYTHON asks it to."""
    for fake, part in (("3.99.1 (main)", "3.6 to 3.14"), ("3.11.9 (x) [PyPy 7.3]", "PyPy"),
                       ("3.13.1 experimental free-threading build", "free-threaded"),
                       ("3.14.0 (main)", "does not say where"), ("2.7.18 (default)", "3.6 to 3.14")):
        done = box.record(fixture("e2e_fake_python"), rec="v.tare", options=["-f"], env={"TARE_FAKE_PYTHON": fake})
        said = [d for d in box.report("v.tare", "end")["degraded"] if "Python" in d]
        check(len(said) == 1 and part in said[0] and fake.split()[0] in said[0], fake, said, done)
    # It names a known version, and what lies there is not what that version has.
    for version in ["3.%d.1" % minor for minor in range(6, 14)]:
        for state in ("unmapped", "odd", "zeros", "noise", "self", "code"):
            done = box.record(fixture("e2e_fake_python"), rec="v.tare", options=["-f"],
                              env={"TARE_FAKE_PYTHON": version, "TARE_FAKE_STATE": state})
            frames = [event["python"] for event in box.events("v.tare")]
            check_equal(set(frames), {0}, version, state, done)


main()
