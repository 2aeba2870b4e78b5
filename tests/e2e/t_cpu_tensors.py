#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tensors in the memory of the CPU: which blocks there are and what made them, against a library that
looks like PyTorch and against Debian's PyTorch, which says itself what it holds."""

import json
import os
import re

from harness import (BUILD, FIXTURES, MIB, PYTHON, ROOT, Skip, case, check, check_equal, check_says, fixture,
                     main, needs_torch)

PROGRAM = os.path.join(ROOT, "tests", "e2e", "python", "cpu_tensors.py")


def torch(box, *what, tare=True, **more):
    """Runs a part of the program; its last line of output is JSON."""
    needs_torch()
    more.setdefault("timeout", 300)
    more["env"] = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": os.path.join(ROOT, "python"),
                   "TARE_BINARY": os.path.join(BUILD, "tare"), "TARE_RECORDING": box.path("rec.tare")}
    argv = [PYTHON, PROGRAM] + list(what)
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


def processes(box, at, rec="rec.tare"):
    """pid → its row of tensors, its row of mapped ones."""
    report = box.report(rec, at)
    return {h["pid"]: [next(a for a in h["accounts"] if a["account"] == key) for key in ("tensors", "mapped")]
            for h in report["host"] if h["accounts"]}


def sums(row):
    return [row["bytes"], row["count"]]


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


def check_training(box, optimizer):
    points = torch(box, "training", optimizer)
    for name in sorted(points):
        if name != "peak":
            (tensors, mapped), = processes(box, "phase:" + name).values()
            check_equal(sums(tensors), points[name], name)
            check_equal(sums(mapped), [0, 0])
            check_equal([tensors["evidence"], tensors["leaf"]], ["exact", False])
    for at in ("peak", "peak:host"):
        (tensors, _), = processes(box, at).values()
        check_equal([tensors["bytes"], tensors["most_bytes"]], [points["peak"]] * 2, at)
    (tensors, _), = processes(box, "end").values()
    check_equal(sums(tensors), points["step3"], "end: Python frees the rest when it is taken down")


@case
def sgd_is_what_torch_holds(box):
    check_training(box, "sgd")


@case
def adam_is_what_torch_holds(box):
    check_training(box, "adam")


@case
def a_ledger_without_a_gpu_shows_tensors(box):
    torch(box, "pausing")
    done = box.tare("report", "rec.tare")
    check_equal(done.code, 0, done)
    check_says(done.out, "no recorded process opened a GPU; this is its memory on the CPU", "AT PEAK", "AT END",
               "asked for", "cpu_tensors.py", "made while recording was paused", "host  cpu_tensors.py")
    check(re.search(r"10\.0 +10\.0  inferred", done.out), done)
    check("exact" not in done.out, done)
    check("shared memory" not in done.out, done)
    ascii_only = box.tare("report", "rec.tare", env={"LC_ALL": "C"})
    check(ascii_only.out.isascii(), ascii_only)
    for by in ("account", "owner", "process", "library"):
        check_says(box.tare("report", "rec.tare", "--by", by).out, "tensors")
    for more in ("--by", "line"), ("--by", "category"), ("--by", "tensor"):
        check_says(box.tare("report", "rec.tare", *more).out, "paused from", "not known")


@case
def what_comes_while_paused_is_not_counted(box):
    wanted = torch(box, "pausing")
    (tensors, _), = processes(box, "end").values()
    check_equal(sums(tensors), [wanted["bytes"], 2])


@case
def lines_have_what_they_made(box):
    points = torch(box, "training", "adam")
    for at in ("peak", "end", "phase:step1"):
        done = box.tare("report", "rec.tare", "--by", "line", "--at", at, "--json")
        check_equal(done.code, 0, done)
        report = json.loads(done.out)
        rows = [row for row in report["rows"] if row["device"] is None]
        (tensors, _), = processes(box, at).values()
        check_equal([sum(row[key] for row in rows) for key in ("tensor_bytes", "tensors")],
                    [tensors["bytes"], tensors["count"]], at)
        check_equal([row["bytes"] for row in rows], [row["tensor_bytes"] for row in rows])
    made = {name: sum(row["bytes"] for row in rows if row["function"] == name) for name in ("network", "step")}
    check_equal(sum(made.values()), points["step1"][0], "all of it is the program's", rows)
    # In a step: gradients, two states, and for each of six parameters a counter.
    check_equal(made["step"], 3 * made["network"] + 6 * 4, rows)
    done = box.tare("report", "rec.tare", "--by", "line")
    check_says(done.out, "CPU  live tensors", "AT PEAK", "cpu_tensors.py:", " in step", "smaller ones")


@case
def one_line_taken_apart(box):
    """In a recording without a GPU: what its tensors are for."""
    torch(box, "training", "adam")
    with open(PROGRAM, encoding="utf-8") as file:
        at = [number for number, text in enumerate(file, 1) if "optimizer.step()" in text][0]
    args = ("report", "rec.tare", "--line", "cpu_tensors.py:%d" % at, "--parts", "--at", "phase:step1")
    done = box.tare(*args, "--json")
    check_equal(done.code, 0, done)
    one, = json.loads(done.out)["parts"]
    check_equal((one["device"], one["pid"] > 0), (None, True), one)
    # Two states for each of six parameters, and a counter.
    check_equal([(row["category"], row["count"]) for row in one["made"]], [("optimizer state", 18)], one)
    check_equal((one["tensors"]["bytes"], one["tensors"]["count"]), (one["made"][0]["bytes"], 18), one)
    check_says(box.tare(*args).out, "cpu_tensors.py:%d in step" % at, "CPU, process", "optimizer state", "resident or not")
    done = box.tare("report", "rec.tare", "--line", "cpu_tensors.py:1", "--parts")
    check_equal(done.code, 125, done)
    check_says(done.err, "nearest")


@case
def workers_have_rows_of_their_own(box):
    said = torch(box, "loading")
    found = processes(box, "phase:loaded")
    tensors, mapped = found.pop(said["pid"])
    check_equal(mapped["bytes"], said["batches"] * 2 * MIB)
    check(tensors["bytes"] < MIB, "the batches are shared memory, not the allocator's", tensors)
    at_end = processes(box, "end")
    check_equal(sums(at_end.pop(said["pid"])[0]), [said["own"], 1])
    check_equal(len(at_end), 2, at_end)
    for tensors, mapped in at_end.values():
        check(tensors["most_bytes"] >= 2 * MIB, tensors)
        check_equal([tensors["bytes"], mapped["bytes"]], [0, 0], "it ended")


@case
def a_forked_child_has_what_it_made(box):
    said = torch(box, "forking")
    inside, afterwards = (processes(box, "phase:" + name) for name in ("in the child", "afterwards"))
    check_equal(sums(inside[said["pid"]][0]), [said["own"], 1])
    check_equal(sums(inside[said["child"]][0]), [2 * MIB, 1])
    check_equal(sums(afterwards[said["pid"]][0]), [said["own"], 1])
    check(said["child"] not in afterwards, afterwards)


main()
