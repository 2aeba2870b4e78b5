#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tensors in the memory of the CPU: which blocks there are and what made them, against a library that
looks like PyTorch and against Debian's PyTorch, which says itself what it holds."""

import json
import os
import subprocess

from harness import FIXTURES, ROOT, WRAPPER, Skip, case, check, check_equal, fixture, main

PYTHON = "/usr/bin/python3"
PROGRAM = os.path.join(ROOT, "tests", "e2e", "python", "cpu_tensors.py")


def needs_torch():
    if WRAPPER:
        raise Skip("the PyTorch here is of another machine")
    if subprocess.run([PYTHON, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode:
        raise Skip("%s has no PyTorch" % PYTHON)


def torch(box, what, tare=True, **more):
    """Runs a part of the program; its last line of output is JSON."""
    needs_torch()
    more.setdefault("env", {})["PYTHONDONTWRITEBYTECODE"] = "1"
    argv = [PYTHON, PROGRAM, what]
    done = box.record(argv, sim=None, **more) if tare else box.run(argv, **more)
    check_equal(done.code, 0, done)
    return json.loads(done.out.splitlines()[-1])


def blocks(box, rec="rec.tare"):
    """The records of blocks, in order; `flags` is a set."""
    done = box.tare("dump", rec, "--json")
    check_equal(done.code, 0, done)
    records = [json.loads(line) for line in done.out.splitlines()]
    found = [r for r in records if r.get("kind") == "tensor"]
    for record in found:
        record["flags"] = set(record["flags"].split("+"))
    return found


def flags_by_size(box):
    return {r["bytes"]: r["flags"] for r in blocks(box) if r["bytes"] > 0}


@case
def flags_say_what_the_thread_was_doing(box):
    """Also behind nodes that threw, and on another thread; what is passed on the fixture checks."""
    if not os.path.exists(os.path.join(FIXTURES, "e2e_cpu_tensors")):
        raise Skip("there is no C++ compiler")
    box.record(fixture("e2e_cpu_tensors"))
    inside = {1002, 1004, 1005, 1007, 1009, 1010, 1013}
    found = flags_by_size(box)
    check_equal(set(found), set(range(1000, 1015)))
    for size, flags in found.items():
        wanted = {"host"}
        if size not in (1000, 1014):
            wanted.add("grad")
        if size in inside:
            wanted.add("backward")
        check_equal(flags, wanted, size)
    check_equal([r["flags"] for r in blocks(box) if r["bytes"] <= 0], [{"host"}, {"host"}])
    check_equal({r["device"] for r in blocks(box)}, {-1})


@case
def nothing_is_recorded_without_tensors(box):
    if not os.path.exists(os.path.join(FIXTURES, "e2e_cpu_tensors")):
        raise Skip("there is no C++ compiler")
    box.record(fixture("e2e_cpu_tensors"), options=["--no-tensors"])
    check_equal(blocks(box), [])


@case
def a_backward_pass_that_fails_is_over(box):
    sizes = torch(box, "failing")
    found = flags_by_size(box)
    check_equal(found[sizes["inside"]], {"host", "backward"})
    check_equal(found[sizes["behind"]], {"host", "grad"})
    check_equal(found[sizes["no_grad"]], {"host"})
    check_equal(found[sizes["thread"]], {"host", "grad"})


@case
def torch_profiler_says_the_same(box):
    alone = torch(box, "profiled", tare=False)
    recorded = torch(box, "profiled")
    check(len(alone["bytes"]) > 100 and min(alone["bytes"]) < 0, alone)
    check_equal(recorded, alone)


main()
