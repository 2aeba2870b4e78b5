#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What tensors are for, against Debian's PyTorch, which says it itself at the same moments."""

import csv
import io
import json
import os

from harness import PYTHON, ROOT, case, check, check_equal, main, needs_torch

PROGRAM = os.path.join(ROOT, "tests", "e2e", "python", "categories.py")
SLACK = 1024  # bytes: scalars that a line or a library keeps


def record(box, what, *options, **more):
    needs_torch()
    env = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": os.path.join(ROOT, "python"), **more}
    box.record([PYTHON, PROGRAM, what, box.path("truth")], sim=None, env=env, options=options, timeout=300)
    with open(box.path("truth"), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def categories(box, marks, pid):
    """mark → category → bytes, of the process."""
    at = [word for mark in marks for word in ("--at", "phase:" + mark)]
    done = box.tare("report", "rec.tare", "--by", "category", "--csv", "--pid", str(pid), *at)
    check_equal(done.code, 0, done)
    found = {mark: {} for mark in marks}
    for row in csv.DictReader(io.StringIO(done.out)):
        found[row["at"][len("phase:"):]][row["label"]] = int(row["bytes"])
    return found


def check_rows(box, marks, found, pid):
    """The ledger has the same rows below the tensors of the process, and they sum to that row."""
    at = [word for mark in marks for word in ("--at", "phase:" + mark)]
    done = box.tare("report", "rec.tare", "--json", *at)
    check_equal(done.code, 0, done)
    first = json.loads(done.out)
    for mark, ledger in zip(marks, [first] + first.get("also", [])):
        (host,) = [host for host in ledger["host"] if host["pid"] == pid]
        rows = {row["path"].split("/", 1)[1]: row for row in host["accounts"]}
        below = {path.split("/", 1)[1].replace("%2F", "/"): row["bytes"] for path, row in rows.items() if "/" in path}
        check_equal(below, found[mark], mark)
        check_equal(sum(below.values()), rows["tensors"]["bytes"], mark)
        check_equal({row["evidence"] for path, row in rows.items() if "/" not in path}, {"exact"})


def near(got, wanted):
    return abs(got - wanted) <= max(wanted * 0.02, SLACK)


def check_marks(box, truth, merged=()):
    marks = [entry["mark"] for entry in truth]
    pid = truth[0]["pid"]
    found = categories(box, marks, pid)
    check_rows(box, marks, found, pid)
    for entry in truth:
        got = dict(found[entry["mark"]])
        wanted = {k: v for k, v in entry.items() if k not in ("mark", "pid")}
        for into, category in merged:
            wanted[into] += wanted.pop(category)
        for category, size in wanted.items():
            check(near(got.get(category, 0), size), entry["mark"], category, "%d, not %d"
                  % (got.get(category, 0), size), got)
        if entry["mark"].startswith("step"):
            check(got.get("temporary", 0) <= 0.01 * sum(got.values()), entry["mark"], got)
        check_equal([c for c in got if c not in wanted and c != "temporary"], [], entry["mark"])


def define(what):
    def run(box):
        check_marks(box, record(box, what))
    run.__name__ = "with_" + what
    case(run)


for one in ("sgd", "momentum", "adam", "accumulation", "inference"):
    define(one)


KEPT = ("parameter", "buffer/state", "gradient", "optimizer state", "activation")


def check_to_the_byte(entry, got, labels):
    for label in labels:
        check_equal(got.get(label, 0), entry[label], entry["mark"], label, got)
    check_equal([label for label in got if label not in KEPT + ("input",)], [], got)


@case
def four_threads_to_the_byte(box):
    truth = record(box, "threads", TARE_SCAN="eager")  # else buffers are parameters until the second backward pass
    marks, pid = [entry["mark"] for entry in truth], truth[0]["pid"]
    found = categories(box, marks, pid)
    check_equal(len(marks), 4)
    check_rows(box, marks, found, pid)
    for entry in truth:
        check_to_the_byte(entry, found[entry["mark"]], KEPT + ("input",))


@case
def four_workers_to_the_byte(box):
    """Batches are in shared memory, which is no allocator's: not in the row of tensors, but what they are for is known."""
    truth = record(box, "workers", TARE_SCAN="eager")
    found = categories(box, [entry["mark"] for entry in truth], truth[0]["pid"])
    check_equal(len(truth), 4)
    for entry in truth:
        got = found[entry["mark"]]
        check_to_the_byte(entry, got, KEPT)
        check(got["input"] >= entry["input"] > 0 and got["input"] % entry["input"] == 0, entry["mark"], got)
        (host,) = [h for h in box.report("rec.tare", "phase:" + entry["mark"])["host"] if h["pid"] == entry["pid"]]
        rows = {row["path"].split("/", 1)[1]: row["bytes"] for row in host["accounts"]}
        rows = {path: size for path, size in rows.items() if "/" not in path}
        check_equal(rows, {"mapped": got["input"], "tensors": sum(entry[label] for label in KEPT)}, entry["mark"])


@case
def a_program_of_one_step_is_looked_through(box):
    """It is over before the first look by the clock, and has no second backward pass: a module is called, that is enough."""
    needs_torch()
    program = """
import torch
net = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.BatchNorm1d(256))
net(torch.randn(64, 256)).sum().backward()
"""
    box.record([PYTHON, "-c", program], sim=None, env={"PYTHONDONTWRITEBYTECODE": "1"}, timeout=300)
    done = box.tare("report", "rec.tare", "--by", "tensor", "--at", "peak", "--json")
    rows = {row["name"]: row for row in json.loads(done.out)["rows"] if row["name"]}
    check_equal((rows["0.weight"]["category"], rows["0.weight"]["evidence"]), ("parameter", "witness"), rows)
    check_equal((rows["1.running_mean"]["category"], rows["1.running_mean"]["evidence"]), ("buffer/state", "witness"), rows)


@case
def rules_alone(box):
    """Without a look at the program's objects a buffer is taken for a parameter: both are built with modules."""
    check_marks(box, record(box, "adam", "--no-scan"), merged=[("parameter", "buffer/state")])


@case
def tensors_have_names(box):
    truth = record(box, "adam")
    done = box.tare("report", "rec.tare", "--by", "tensor", "--json", "--at", "phase:" + truth[-1]["mark"])
    check_equal(done.code, 0, done)
    rows = json.loads(done.out)["rows"]
    names = {row["name"]: row for row in rows if row["name"]}
    for name, size in (("stem.weight", 32 * 3 * 9 * 4), ("layers.0.conv.weight", 32 * 32 * 9 * 4),
                       ("layers.3.norm.bias", 32 * 4), ("head.weight", 2560 * 4)):
        check(name in names, name, sorted(names))
        check_equal((names[name]["bytes"], names[name]["category"], names[name]["rule"], names[name]["evidence"]),
                    (size, "parameter", "said-parameter", "witness"))
    check_equal(names["layers.0.norm.running_mean"]["category"], "buffer/state")
    check("PROGRAM" not in done.out and os.path.basename(PROGRAM) in names["head.weight"]["line"], names["head.weight"])
    shown = box.tare("report", "rec.tare", "--by", "tensor", "--at", "phase:" + truth[-1]["mark"])
    lines = shown.out.splitlines()
    check("fc.weight" in shown.out and len(lines) < len(rows), shown)  # like ones share a row
    check(sum(" 0.0 " in line for line in lines) <= 1, "what is next to nothing shares one, too", shown)
    modules = box.tare("report", "rec.tare", "--by", "module", "--at", "phase:" + truth[-1]["mark"]).out
    check("param." in modules and "temp." not in modules, "no column for what there is none of", modules)


@case
def a_recording_without_tensors_says_so(box):
    box.record(["true"], sim=None)
    for by in ("category", "tensor"):
        done = box.tare("report", "rec.tare", "--by", by)
        check_equal(done.code, 0, done)
        check("no tensor events" in " ".join(done.out.split()), done)


main(checks_views=True)
