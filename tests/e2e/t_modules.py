#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What modules hold, against Debian's PyTorch, which says it itself at the same moments."""

import json
import os

from harness import FIXTURES, PYTHON, ROOT, case, check, check_equal, main, needs_exec, needs_torch
from python_stacks import VERSIONS, python_of

PROGRAM = os.path.join(ROOT, "tests", "e2e", "python", "modules.py")
CALLS = os.path.join(ROOT, "tests", "e2e", "python", "module_calls.py")
CATEGORIES = ("parameter", "buffer", "gradient", "optimizer", "activation")
SLACK = 256  # bytes of a module: scalars that a call keeps


def record(box, what, *options):
    needs_torch()
    env = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": os.path.join(ROOT, "python"), "TARE_SCAN": "eager"}
    box.record([PYTHON, PROGRAM, what, box.path("truth")], sim=None, env=env, options=options, timeout=300)
    with open(box.path("truth"), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def report(box, by, mark):
    done = box.tare("report", "rec.tare", "--by", by, "--json", "--at", "phase:" + mark)
    check_equal(done.code, 0, done)
    return json.loads(done.out)


def check_sums(box, mark, rows):
    """Own sizes sum to all tensors, in each category; and a module has what is in it."""
    tensors = report(box, "tensor", mark)["rows"]
    check_equal(sum(row["own_bytes"] for row in rows), sum(row["bytes"] for row in tensors), mark)
    for name in ("parameter", "gradient", "activation", "temporary"):
        check_equal(sum(row["own_%s_bytes" % name] for row in rows),
                    sum(row["bytes"] for row in tensors if row["category"] == name), mark, name)
    check_equal(sum(row["bytes"] for row in rows if not row["depth"]), sum(row["own_bytes"] for row in rows), mark)


def check_module(mark, path, row, truth, beside):
    """`beside`: the gradient of the input, which one module may have beside its own."""
    check_equal(row["class"], truth["class"], mark, path)
    for name in CATEGORIES:
        got, wanted = row["own_%s_bytes" % name], truth.get(name, 0)
        if name == "parameter":  # before the first step nobody can tell that it is trained
            got += row["own_frozen_bytes"]
        if name == "gradient" and beside and abs(got - wanted - beside[0]) <= SLACK:
            got -= beside.pop()
        check(abs(got - wanted) <= SLACK, mark, path, name, "%d, not %d" % (got, wanted))


def check_marks(box, truth):
    for number, entry in enumerate(truth):
        rows = report(box, "module", entry["mark"])["rows"]
        if number % 3 == 0 or entry is truth[-1]:
            check_sums(box, entry["mark"], rows)
        found = {"" if not row["depth"] else row["module"]: row for row in rows if row["class"]}
        beside = [entry["gradient_of_input"]] if entry["gradient_of_input"] else []
        for path, wanted in entry["modules"].items():
            if path in found:
                check_module(entry["mark"], path, found[path], wanted, beside)
            else:
                check_equal({name: wanted[name] for name in CATEGORIES if wanted.get(name, 0) > SLACK}, {},
                            entry["mark"], path)


def check_shapes(box, mark):
    """Of what Python has; and gradients have that of their parameters."""
    rows = {row["name"]: row for row in report(box, "tensor", mark)["rows"] if row["name"]}
    for name, shape in (("fc.weight", "float32 [10, 64]"), ("gradient of fc.weight", "float32 [10, 64]"),
                        ("exp_avg of layer2.1.conv2.weight", "float32 [16, 16, 3, 3]"),
                        ("bn1.num_batches_tracked", "int64 []")):
        check_equal(rows[name]["shape"], shape, name)
    check_equal((rows["fc.weight"]["module"], rows["fc.weight"]["class"]), ("fc", "Linear"))


def define(what):
    def run(box):
        truth = record(box, what)
        check_marks(box, truth)
        if what == "resnet":
            check_shapes(box, truth[-1]["mark"])
    run.__name__ = "of_a_" + what
    case(run)


for one in ("resnet", "transformer", "checkpointed"):
    define(one)


def seen_modules(box):
    """Bytes of each block → address and class of the module that the records say it is for."""
    done = box.tare("dump", "rec.tare", "--json")
    check_equal(done.code, 0, done)
    names, inside, found = {}, {}, {}
    for record in map(json.loads, done.out.splitlines()):
        if record.get("kind") == "string":
            names[record["id"]] = record["text"]
        elif record.get("kind") == "module" and record["tid"]:
            inside[record["tid"]] = [int(record["at"], 16), names[record["class"]]]
        elif record.get("kind") == "tensor" and record["bytes"] > 0:
            is_inside = "in-module" in record["flags"].split("+")
            found[record["bytes"]] = inside[record["tid"]] if is_inside else [0, "-"]
    return found


def define_python(version):
    """The module of each call, whichever PyTorch makes it, is read of the frames of every Python."""
    def run(box):
        needs_exec()
        done = box.record([python_of(version), CALLS, os.path.join(FIXTURES, "libc10_cuda.so")])
        check_equal(done.code, 0, done)
        wanted = {}
        for line in done.out.splitlines():
            size, at, name = line.split()
            wanted[int(size)] = [int(at), name]
        check_equal(len(wanted), 1 + 3 * 16 + 8 * 2)
        check_equal(seen_modules(box), wanted)
    run.__name__ = "calls_in_python_" + version.replace(".", "_")
    case(run)


for one in VERSIONS + ["system"]:
    define_python(one)


@case
def a_recording_without_tensors_says_so(box):
    box.record(["true"], sim=None)
    done = box.tare("report", "rec.tare", "--by", "module")
    check_equal(done.code, 0, done)
    check("no tensor events" in " ".join(done.out.split()), done)


main()
