#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tensors in the memory of the CPU: which blocks there are and what made them, against a library that
looks like PyTorch and against Debian's PyTorch, which says itself what it holds."""

import csv
import io
import json
import os
import re

from harness import (BUILD, MIB, PYTHON, ROOT, case, check, check_equal, check_says, fixture, main, needs_cplusplus,
                     needs_torch)

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
    needs_cplusplus("e2e_cpu_tensors")
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
    needs_cplusplus("e2e_cpu_tensors")
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
    check_says(done.out, "CPU  tensors: MiB that were asked for", "AT PEAK", "AT END",
               "asked for", "cpu_tensors.py", "made while recording was paused", "host  cpu_tensors.py")
    check(re.search(r"10\.0 +10\.0  inferred", done.out), done)
    check("exact" not in done.out, done)
    check("GPU" not in done.out, "nobody has one", done)
    for by in ("device", "pool", "stream", "graph"):
        check_says(box.tare("report", "rec.tare", "--by", by).out, "--by %s " % by, "on the CPU", "--by tensor")
    check_says(box.tare("report", "rec.tare", "--cost", "time").out, "about calls of a GPU's driver", "has none")
    check_equal(json.loads(box.tare("report", "rec.tare", "--cost", "time", "--json").out)["rows"], [])
    check("shared memory" not in done.out, done)
    check("shared 0.0" not in done.out, done)
    check("shared" not in box.tare("report", "rec.tare", "--by", "category").out)
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
def phases_have_sizes(box):
    """Of the CPU as of a GPU: after each mark there is what torch holds, and the peak is that of the blocks."""
    points = torch(box, "training", "adam")
    report = json.loads(box.tare("report", "rec.tare", "--by", "phase", "--json").out)
    marks = {row["label"]: row for row in report["rows"] if row["device"] is None}
    check_equal(sorted(marks), sorted(name for name in points if name != "peak"))
    for name, row in marks.items():
        check_equal(row["used_after_bytes"], points[name][0], name)
        check_equal(row["used_after_bytes"] - row["used_before_bytes"], row["bytes"], name)
    check_equal(max(row["peak_bytes"] for row in marks.values()), points["peak"])
    check_says(box.tare("report", "rec.tare", "--by", "phase").out, "CPU  tensors", "USED AFTER", "PEAK", "step1")
    name, row = max(marks.items(), key=lambda item: item[1]["peak_bytes"])
    (tensors, _), = processes(box, "phase:%s:peak" % name).values()
    check_equal(tensors["bytes"], row["peak_bytes"])


@case
def phases_have_what_was_resident(box):
    """Read ten times a second: of a phase that lasts, and not of one that does not."""
    needs_torch()
    program = """
import time, tare, torch
small = torch.ones(1 << 18)
time.sleep(.5)
with tare.phase("grows"):
    kept = torch.ones(16 << 20)
    time.sleep(.5)
with tare.phase("short"):
    pass
with tare.phase("shrinks"):
    del kept
    time.sleep(.5)
"""
    done = box.record([PYTHON, "-c", program], sim=None, timeout=300,
                      env={"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": os.path.join(ROOT, "python")})
    check_equal(done.code, 0, done)
    found = {p["path"]: p for p in json.loads(box.tare("report", "rec.tare", "--by", "phase", "--json").out)["rows"]}
    in_csv = {p["path"]: p for p in csv.DictReader(io.StringIO(box.tare("report", "rec.tare", "--by", "phase", "--csv").out))}
    check_equal({name: row["resident_change_bytes"] for name, row in in_csv.items()},
                {name: "" if row["resident_change_bytes"] is None else str(row["resident_change_bytes"])
                 for name, row in found.items()})
    grows, short, shrinks = (found[name] for name in ("grows", "short", "shrinks"))
    check(abs(grows["resident_change_bytes"] - 64 * MIB) < 2 * MIB, grows)
    check(abs(shrinks["resident_change_bytes"] + 64 * MIB) < 2 * MIB, shrinks)
    most = grows["ns"] // 100_000_000 + 2  # on a busy machine the phase lasts longer than it sleeps
    check(2 <= grows["resident_readings"] <= most, grows)
    check(grows["resident_most_bytes"] >= grows["resident_after_bytes"], grows)
    check_equal([short[key] for key in ("resident_after_bytes", "resident_change_bytes", "resident_most_bytes",
                                        "resident_readings")], [None, None, None, 0])
    out = box.tare("report", "rec.tare", "--by", "phase").out
    check_says(out, "CPU  resident", "sampled ten times a second", "RESIDENT AFTER", "MOST", "memory was not read before the phase began")


@case
def lines_of_a_file_are_annotated(box):
    """Each line beside what it has in tensors; the sums are those of --by line."""
    torch(box, "training", "adam")
    rows = json.loads(box.tare("report", "rec.tare", "--annotate", "cpu_tensors.py", "--at", "phase:step1",
                               "--json").out)["rows"]
    lines = json.loads(box.tare("report", "rec.tare", "--by", "line", "--at", "phase:step1", "--json").out)["rows"]
    check_equal({row["line"]: row["tensor_bytes"] for row in rows if row["tensor_bytes"]},
                {row["line"]: row["bytes"] for row in lines if row["bytes"]})
    check_equal({row["device"] for row in rows}, {None})
    with open(PROGRAM, encoding="utf-8") as file:
        check_equal([row["source"] for row in rows], file.read().splitlines())
    check_says(box.tare("report", "rec.tare", "--annotate", "cpu_tensors.py").out, "CPU · at ", "tensors", "optimizer.step()")


@case
def a_picture_has_categories_without_being_asked(box):
    torch(box, "training", "adam")
    for more, wanted in ((), True), (("--by", "category"), True), (("--by", "account"), False):
        check_equal(box.tare("report", "rec.tare", "--svg", "x.svg", *more).code, 0)
        with open(box.path("x.svg"), encoding="utf-8") as file:
            check_equal("optimizer state" in file.read(), wanted, more)


@case
def a_refusal_is_an_event(box):
    """Two lines, the first of them five times; the program hears what it would have heard."""
    alone = torch(box, "refused", tare=False)
    check_equal(torch(box, "refused"), alone)
    report = box.report("rec.tare", "oom#1")
    first, second = report["out_of_memory"]
    check_equal([(o["device"], o["by"], o["count"], o["asked_bytes"], o["allocated_bytes"]) for o in (first, second)],
                [(None, "torch", 5, 1 << 50, 16 * MIB), (None, "torch", 1, 5 << 30, 16 * MIB)])
    check_equal((first["verdict"], second["verdict"]), ("need", "limit"))
    check_equal(first["limit_left_bytes"], None)
    check(0 < second["limit_left_bytes"] < 4 << 30, second)
    with open("/proc/meminfo", encoding="utf-8") as file:
        total = int(re.search(r"MemTotal: +(\d+)", file.read()).group(1)) * 1024
    check(0 < first["free_bytes"] < total, first)
    with open(PROGRAM, encoding="utf-8") as file:
        lines = [number for number, text in enumerate(file, 1) if "torch.empty(" in text]
    check_equal([o["source"] for o in (first, second)], ["%s:%d in refused" % (PROGRAM, n) for n in lines])
    (tensors, _), = processes(box, "oom#1").values()
    check_equal(tensors["bytes"], 16 * MIB)
    done = box.tare("report", "rec.tare")
    check_says(done.out, "out of memory on the CPU", "(and 4 more times)", "left by ulimit -v", "--at oom#2")
    check_equal(box.tare("report", "rec.tare", "--at", "oom#3").code, 125)
    check_equal(box.tare("report", "rec.tare", "--svg", "oom.svg").code, 0)
    with open(box.path("oom.svg"), encoding="utf-8") as file:
        check_says(file.read(), 'class="oom"')


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
def shared_memory_counts_once(box):
    """Two processes map 24 MiB: both say so, the ledger has it once, and so does Linux (half of it each)."""
    needs_torch()
    program = os.path.join(ROOT, "tests", "e2e", "python", "cpu_shared.py")
    done = box.record([PYTHON, program], sim=None, timeout=300,
                      env={"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": os.path.join(ROOT, "python")})
    check_equal(done.code, 0, done)
    said = json.loads(done.out.splitlines()[-1])
    check(abs(said["pss"] - 12 * MIB) < MIB, said)
    found = processes(box, "phase:both have it")
    check_equal({pid: mapped["bytes"] for pid, (_, mapped) in found.items()},
                {said["pid"]: 24 * MIB, said["child"]: 24 * MIB})
    with open(program, encoding="utf-8") as file:
        at = [number for number, text in enumerate(file, 1) if "share_memory_()" in text][0]
    (row,) = box.report("rec.tare", "phase:both have it")["shared"]
    check_equal(row, {"line": "%s:%d in main" % (program, at), "pid": said["pid"], "bytes": 24 * MIB, "count": 1})
    lines = json.loads(box.tare("report", "rec.tare", "--by", "line", "--at", "phase:both have it", "--json").out)["rows"]
    check_equal(sum(line["bytes"] for line in lines if line["device"] is None), (24 + 5 + 2) * MIB)
    check_says(box.tare("report", "rec.tare", "--at", "phase:both have it").out, "shared memory and mapped files, once",
               "cpu_shared.py:%d in main" % at)
    for by in "category", "tensor", "module":
        out = box.tare("report", "rec.tare", "--by", by, "--at", "phase:both have it").out
        check_equal(" ".join(out.split()).count("24.0 MiB of it are in shared memory and mapped files"), 2, by, out)


@case
def a_forked_child_has_what_it_made(box):
    said = torch(box, "forking")
    inside, afterwards = (processes(box, "phase:" + name) for name in ("in the child", "afterwards"))
    check_equal(sums(inside[said["pid"]][0]), [said["own"], 1])
    check_equal(sums(inside[said["child"]][0]), [2 * MIB, 1])
    check_equal(sums(afterwards[said["pid"]][0]), [said["own"], 1])
    check(said["child"] not in afterwards, afterwards)


main()
