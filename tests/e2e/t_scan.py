#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The look through a program's modules and optimizers: what it tells, and that the program notices nothing."""

import json
import os
import subprocess

from harness import FIXTURES, MIB, ROOT, case, check, check_equal, fixture, main, needs
from python_stacks import VERSIONS, embeddable, python_of

PROGRAM = os.path.join(ROOT, "tests", "e2e", "python", "scanned.py")


def environment(scan, fake=False):
    return {"BLOCKS": os.path.join(FIXTURES, "libc10_cuda.so"), "TARE_SCAN": scan, "PYTHONDONTWRITEBYTECODE": "1",
            "FAKE": "1" if fake else None}


def torch_python():
    python = python_of("system")
    done = subprocess.run([python, "-c", "import torch"], stderr=subprocess.PIPE)
    needs(done.returncode == 0, "python3-torch")
    return python


def records(box, rec="rec.tare"):
    """Scans as (SCAN record, [(role, at, of, name)])."""
    done = box.tare("dump", rec, "--json")
    check_equal(done.code, 0, done)
    names, scans, entries = {}, [], []
    for line in done.out.splitlines():
        record = json.loads(line)
        if record.get("kind") == "string":
            names[record["log"], record["id"]] = record["text"]
        elif record.get("kind") == "scanned":
            entries.append((record["role"], int(record["at"], 16), int(record["of"], 16),
                            names.get((record["log"], record["name"]), "")))
        elif record.get("kind") == "scan":
            scans.append((record, entries))
            entries = []
    return scans


def check_names(box, version):
    box.record([python_of(version), PROGRAM, "names"], env=environment("eager", fake=True))
    scans = records(box)
    check(scans, "no scan")
    scan, found = scans[-1]
    check_equal(scan["entries"], len(found))
    modules = {name: (at, of) for role, at, of, name in found if role == "module"}
    check_equal(sorted(modules), ["0", "half", "inner", "layer", "net"])  # the last three are variables
    check_equal(modules["0"][1], modules["layer"][0], "the module that has 0")
    half = modules["0"][0]
    check_equal(sorted(e for e in found if e[0] not in ("module", "tensor")),
                sorted([("parameter", 0x1000, half, "weight"), ("parameter", 0x2000, half, "bias"),
                        ("parameter", 0x1000, half, ""), ("buffer", 0x3000, half, "mean"),
                        ("buffer", 0x4000, half, "view"), ("gradient", 0x6000, 0x1000, ""),
                        ("state", 0x5000, 0x1000, "exp_avg")]))
    check_equal({e[1] for e in found if e[0] == "tensor"},
                {0x1000, 0x2000, 0x3000, 0x4000, 0x5000, 0x6000, 0x8000})


def define(version):
    def run(box):
        check_names(box, version)
    run.__name__ = "names_" + version.replace(".", "_")
    case(run)


for one in VERSIONS + ["system"]:
    define(one)


def check_same(box, what, code=0, has_sweep=True, reads=True):
    argv = [torch_python(), PROGRAM, what]
    alone = box.run(argv, env=environment("off"), sim=True)
    check_equal(alone.code, code, alone)
    done = box.record(argv, env=dict(environment("eager"), TARE_TEST_DISABLE_HOOK=None if reads else "c10::TensorImpl"),
                      exit_code=code)
    check_equal(done.out, alone.out, done, alone)
    check_equal([line for line in done.err.splitlines() if not line.startswith("tare: ")], alone.err.splitlines())
    if has_sweep:
        check(records(box), "no scan", done)


@case
def objects_of_the_program_are_not_asked(box):
    check_same(box, "hostile")


@case
def nothing_that_can_be_seen_changes(box):
    check_same(box, "unchanged")


def define_called(what):
    """Where PyTorch's structures cannot be read, functions of its class in C are called."""
    def run(box):
        check_same(box, what, reads=False)
        if what == "unchanged":
            entries = [entry for _, found in records(box) for entry in found]
            check({"parameter", "gradient", "state"} <= {entry[0] for entry in entries}, entries)
            check(not any("gradients" in scan["flags"] for scan, _ in records(box)), "it was read all the same")
    run.__name__ = what + "_by_functions"
    case(run)


for one in ("hostile", "unchanged", "modes"):
    define_called(one)


@case
def large_heaps_and_threads(box):
    check_same(box, "many")


@case
def interrupts_arrive(box):
    check_same(box, "interrupts")


@case
def forks_and_hard_ends(box):
    check_same(box, "forks", code=5)


@case
def hooks_that_forbid_it(box):
    check_same(box, "audits", has_sweep=False)


@case
def modes_and_traces(box):
    check_same(box, "modes")
    names = {entry[3] for _, entries in records(box) for entry in entries}
    check("weight" in names and "bias" in names, names)


def named(box):
    """name → (bytes, category, rule) of the tensors at the end."""
    done = box.tare("report", "rec.tare", "--by", "tensor", "--at", "end", "--json")
    check_equal(done.code, 0, done)
    return {row["name"]: (row["bytes"], row["category"], row["rule"]) for row in json.loads(done.out)["rows"]
            if row["name"]}


@case
def parameters_that_wrap_others(box):
    check_same(box, "wrappers")
    wanted = {"layer.sharded": (1001, "parameter"), "layer.quantized.qdata": (1002, "frozen"),
              "layer.quantized.scale": (1003, "frozen"), "layer.both": (1004, "frozen"),
              "layer.plain": (1005, "parameter"), "gradient of layer.plain": (1005, "gradient"),
              "layer.view": (1006, "buffer"), "exp_avg of layer.sharded": (1007, "state"),
              "gradient of layer.sharded": (1008, "gradient")}
    found = named(box)
    for name, (count, rule) in wanted.items():
        check(name in found, name, found)
        check_equal((found[name][0], found[name][2]), (4 * count, "said-" + rule), name)


@case
def parameters_that_are_sharded(box):
    check_same(box, "fsdp")
    found = named(box)
    for name, count, category in (("unit.weight", 2001, "parameter"), ("gathered unit.weight", 4001, "communication"),
                                  ("gradient of unit.weight", 2002, "gradient"), ("layer.weight", 2004, "parameter"),
                                  ("gathered layer.weight", 2003, "communication")):
        check(name in found, name, found)
        check_equal(found[name][:2], (4 * count, category), name)


@case
def names_outlive_their_events(box):
    box.record([torch_python(), PROGRAM, "folds"], env=environment("eager"))
    before = named(box)
    box.drop_events()
    check_equal(named(box), before)
    check_equal(before["0.weight"], (40400, "parameter", "said-parameter"))


@case
def gradients_that_nobody_asked_for(box):
    """They have names, and no object in Python is made of them."""
    check_same(box, "unchanged")
    counts = [sum(entry[0] == "gradient" for entry in entries) for _, entries in records(box)]
    check(max(counts) >= 4, counts)
    check(all("gradients" in scan["flags"] for scan, _ in records(box)[1:]), records(box))


@case
def embedded_interpreters(box):
    """Started, scanned, ended and unloaded, twice."""
    text = ("import sys\nsys.argv = ['scanned.py', 'names']\nsys.path.insert(0, %r)\n"
            "exec(compile(open(%r).read(), 'scanned.py', 'exec'))\n" % (os.path.dirname(PROGRAM), PROGRAM))
    tried = 0
    for version, library, home in embeddable():
        env = dict(environment("eager", fake=True), PYTHONHOME=home)
        argv = fixture("e2e_embed", library, text)
        if box.run(argv, sim=True, env=env).code:
            continue
        rec = "embedded-%s.tare" % version
        box.record(argv, rec=rec, env=env)
        check(len(records(box, rec)) >= 2, version, "swept in one of the two only")
        tried += 1
    needs(tried, "libpython3-dev")


def said_of_the_pool(box, what, version="system"):
    rec = what + ".tare"
    done = box.record([python_of(version), PROGRAM, "pool"], rec=rec, env=dict(environment("eager", fake=True), POOL=what))
    check_equal(done.out, "fine\n", done)
    check(records(box, rec), "no scan", what)
    done = box.tare("report", rec, "--by", "pool", "--at", "end", "--json")
    check_equal(done.code, 0, done)
    return json.loads(done.out)


def check_pool(box, version):
    report = said_of_the_pool(box, "said", version)
    row, = report["witness"]
    check(row["t_ns"] > 0, row)
    check_equal({key: row[key] for key in row if key.endswith("_bytes")},
                {"allocated_bytes": MIB, "reserved_bytes": 20 * MIB, "active_bytes": MIB, "requested_bytes": 1000000,
                 "inactive_split_bytes": 19 * MIB, "rounding_bytes": MIB - 1000000, "live_bytes": MIB,
                 "segment_bytes": 20 * MIB})
    check_equal(row["evidence"], "witness")
    check(not any("counted otherwise" in line for line in report["degraded"]), report["degraded"])
    text = box.tare("report", "said.tare", "--by", "pool", "--at", "end")
    check("torch's own count at " in text.out and "0.0 MiB of 1.0 live" in text.out, text)


def define_pool(version):
    def run(box):
        check_pool(box, version)
    run.__name__ = "pool_" + version.replace(".", "_")
    case(run)


for one in sorted(set(VERSIONS[:1] + VERSIONS[-1:])) + ["system"]:
    define_pool(one)


@case
def a_pool_that_counts_otherwise_is_told_of_once(box):
    report = said_of_the_pool(box, "other")
    lines = [line for line in report["degraded"] if "counted otherwise" in line]
    check_equal(len(lines), 1, report["degraded"])
    check("512 B more in blocks and 0 B" in lines[0], lines)
    check_equal(said_of_the_pool(box, "old")["witness"][0]["requested_bytes"], None)


@case
def a_pool_is_asked_only_where_that_is_safe(box):
    for what in ("asleep", "lie", "driver", "forked", "python", "list", "empty", "text", "negative"):
        check_equal(said_of_the_pool(box, what)["witness"], [], what)


@case
def it_can_be_switched_off(box):
    box.record([python_of("system"), PROGRAM, "names"], env=environment(None, fake=True), options=["--no-scan"])
    check_equal(records(box), [])


@case
def it_keeps_to_its_share_of_the_time(box):
    """One part in a hundred, of a program that hands out blocks all the time."""
    text = ("import scanned, time\nend = time.time() + 1.5\nwhile time.time() < end: scanned.poke()\n")
    path = box.path("share.py")
    with open(path, "w") as file:
        file.write("import sys\nsys.path.insert(0, %r)\nsys.argv = ['x', 'many']\nexec(%r)\n"
                   % (os.path.dirname(PROGRAM), text))
    box.record([python_of("system"), path], env=environment("on", fake=True))
    scans = records(box)
    done = box.tare("dump", "rec.tare", "--json")
    end = [r for r in map(json.loads, done.out.splitlines()) if r.get("kind") == "end"]
    before_the_last = sum(scan["ticks"] for scan, _ in scans[:-1])
    check(before_the_last <= end[-1]["run_ticks"] / 100, scans, end)


main()
