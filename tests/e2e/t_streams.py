#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pool of PyTorch's allocator, by stream."""

import json
import os
import shutil
import sys

from harness import BUILD, MIB, WRAPPER, Skip, case, check, check_equal, check_says, compare, fixture, main

EXTERNAL = 0x7e57a11e1000
# kind, number, priority: segments, live, cached, stuck (torch_streams.c)
DEFAULT = ("default", None, None)
SEVERAL = {
    DEFAULT: (2, 13 * MIB + 1024, 0, 7 * MIB + 2 * MIB - 1024),
    ("pool", 3, 0): (2, 1 * MIB, 30 * MIB, 3 * MIB),
    ("pool", 7, -1): (1, 6 * MIB, 0, 0),
    ("external", None, None): (1, 10 * MIB, 0, 0),
}
SWITCHED = {DEFAULT: (1, 0, 20 * MIB, 0), ("pool", 0, 0): (2, 512, 20 * MIB, 2 * MIB - 512)}


def report(box, by, rec="rec.tare", at="end"):
    done = box.tare("report", rec, "--by", by, "--at", at, "--json")
    check_equal(done.code, 0, done)
    return json.loads(done.out)


def streams(rows):
    return {(r["kind"], r["number"], r["priority"]):
            (r["segments"], r["live_bytes"], r["cached_bytes"], r["stuck_bytes"]) for r in rows}


def other_library(box, name):
    """The environment in which the fixture finds that one instead."""
    os.mkdir(box.path("lib"))
    shutil.copy(os.path.join(BUILD, "tests", "e2e", "libc10_cuda_%s.so" % name), box.path("lib", "libc10_cuda.so"))
    shutil.copy(os.path.join(BUILD, "tests", "e2e", "libc10.so"), box.path("lib"))  # which it looks for beside it
    return {"LD_LIBRARY_PATH": box.path("lib")}


def records(box, kind, rec="rec.tare"):
    done = box.tare("dump", rec, "--json")
    check_equal(done.code, 0, done)
    rows = [json.loads(line) for line in done.out.splitlines()]
    return [r for r in rows if r.get("kind") == kind]


@case
def each_has_its_own_segments(box):
    box.record(fixture("e2e_torch_streams"))
    rows = report(box, "stream")["rows"]
    check_equal(streams(rows), SEVERAL)
    check_equal([r["label"] for r in rows],
                ["default stream", "stream 3 (pool)", "stream 7 (pool, high priority)",
                 "external stream 0x%x" % EXTERNAL])
    pool = report(box, "pool")
    check_equal(pool["streams"], rows)
    check_equal(sum(r["bytes"] for r in pool["rows"]), sum(r["bytes"] for r in rows))
    check_equal({s["stream"] for s in pool["segments"]}, {r["label"] for r in rows})


@case
def what_others_cannot_use_is_said(box):
    box.record(fixture("e2e_torch_streams"))
    for by in ("stream", "pool"):
        done = box.tare("report", "rec.tare", "--by", by, "--at", "end")
        check_equal(done.code, 0, done)
        check_says(done.out, "cached on stream 3 (pool): 33.0 MiB, which the other streams cannot use")
    check_equal(box.tare("report", "rec.tare", "--by", "stream", "--csv").code, 0)


@case
def one_stream_costs_nothing_and_shows_nothing(box):
    box.record(fixture("e2e_torch_streams", "one"))
    check_equal(records(box, "stream"), [])
    check_equal(streams(report(box, "stream")["rows"]), {DEFAULT: (1, 12 * MIB, 0, 8 * MIB)})
    done = box.tare("report", "rec.tare", "--by", "pool")
    check("stream" not in done.out.lower(), done)


@case
def a_stream_that_comes_back_is_told_once(box):
    box.record(fixture("e2e_torch_streams", "switch", "100"))
    check_equal(len(records(box, "stream")), 1)
    check_equal(streams(report(box, "stream")["rows"]), SWITCHED)


@case
def streams_of_segments_and_threads_outlive_their_events(box):
    box.record(fixture("e2e_torch_streams", "switch", "4000"))
    box.drop_events()
    rows = report(box, "stream")["rows"]
    check_equal(streams(rows), SWITCHED)
    check_equal([r["blocks_otherwise"] for r in rows], [0, 0])


@case
def a_child_says_it_in_a_log_of_its_own(box):
    if WRAPPER:
        raise Skip("forked children of an emulated program are not told apart")
    box.record(fixture("e2e_torch_streams", "fork"))
    said = records(box, "stream")
    check_equal(len({r["log"] for r in said}), 2, said)
    check_equal([r["flags"] for r in records(box, "tensor")].count("on-stream"), 2)


# Blocks that are reported before there is a library to ask.
LATE = """
import ctypes, sys
folder, report = sys.argv[1], "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE"
ctypes.CDLL(folder + "/libc10.so", ctypes.RTLD_GLOBAL)
report = getattr(ctypes.CDLL(None), report)
report.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint16]
for i in range(1):
    report(0x700000000000 + 512 * i, 512, 512, 512, 1)
ctypes.CDLL(folder + "/libc10_cuda.so")
for i in range(1, 18):
    report(0x700000000000 + 512 * i, 512, 512, 512, 1)
"""


@case
def a_library_that_comes_late(box):
    if WRAPPER:
        raise Skip("the interpreter is not emulated")
    box.record([sys.executable, "-c", LATE, os.path.join(BUILD, "tests", "e2e")])
    check_equal([r["flags"] for r in records(box, "tensor") if r["bytes"] == 512 and r["device"] == 0],
                ["-"] * 16 + ["on-default", "-"])


@case
def blocks_that_contradict_are_counted(box):
    box.record(fixture("e2e_torch_streams", "named"))
    ledger = report(box, "stream")
    check_equal(streams(ledger["rows"]), {("pool", 0, 0): (1, 13 * MIB, 0, 7 * MIB)})
    check_equal([r["blocks_otherwise"] for r in ledger["rows"]], [2])
    check(any(s.startswith("2 blocks of PyTorch's allocator") for s in ledger["degraded"]), ledger["degraded"])
    done = box.tare("report", "rec.tare", "--by", "stream", "--at", "end")
    check_says(done.out, "2 blocks came while another stream was current than that of their segment")


@case
def ids_of_older_versions_are_read_as_they_were_made(box):
    box.record(fixture("e2e_torch_streams"), env=other_library(box, "pointer"))
    check_equal(streams(report(box, "stream")["rows"]), SEVERAL)


@case
def before_there_were_64_bits_of_it(box):
    """An id came in the upper half of the one register that there was."""
    box.record(fixture("e2e_torch_streams"), env=other_library(box, "old"))
    check_equal(streams(report(box, "stream")["rows"]),
                {k: v for k, v in SEVERAL.items() if k[0] != "external"})


@case
def a_library_that_does_not_tell(box):
    box.record(fixture("e2e_torch_streams"), env=other_library(box, "silent"))
    done = box.tare("report", "rec.tare", "--by", "stream")
    check_equal(done.code, 0, done)
    check_says(done.out, "holds no stream events", "--by account")
    pool = report(box, "pool")
    check_equal([(r["kind"], r["id"], r["segments"]) for r in pool["streams"]], [("not known", None, 6)])
    check_equal({s["stream"] for s in pool["segments"]}, {None})


@case
def a_snapshot_of_torch_is_compared_to_the_byte(box):
    if WRAPPER:
        raise Skip("the script runs tare itself")
    right, wrong = (compare(box, "streams.py", "e2e_torch_streams", "marks", *how) for how in ((), ("wrong",)))
    check_equal(right["verdict"], "ok", right)
    check("8 of 8" in right["rows"], right)
    check_equal(wrong["verdict"], "DIFFERS", wrong)
    check("6 of 8" in wrong["rows"], wrong)


if __name__ == "__main__":
    main()
