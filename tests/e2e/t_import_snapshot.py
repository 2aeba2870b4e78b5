#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tare import of memory snapshots of PyTorch: of a second model of the allocator, hostile ones, and those of real programs."""

import copy
import json
import os
import pickle
import random
import subprocess

from caching_allocator import MIB, TORCH, Allocator, course
from harness import case, check, check_balance, check_equal, check_says, main, needs_own_command, real_files, tare_argv
from snapshots import figures, imported, pools, report, said, with_times


@case
def ledgers_have_the_totals_of_the_allocator(box):
    for seed, (settings, what) in enumerate([
            ({}, {}),
            ({}, {"streams": (0, 77, 6), "shared": 0.3, "empty": 0.01}),
            ({"capacity": 600 * MIB}, {}),
            ({"limit": 700 * MIB, "gc": 0.7, "max_split": 32 * MIB}, {}),
            ({}, {"pools": (0, 1, 2), "streams": (0, 3)})]):
        a = Allocator(seed=seed, **settings)
        course(a, 800, seed, **what)
        rec = imported(box, with_times(a.snapshot()))
        check_equal(figures(box, rec), (a.allocated, a.reserved, a.peak_allocated, a.peak_reserved))
        end = report(box, rec, "--at", "end")
        check_equal(end["devices"][0]["used_bytes"], a.reserved)
        check_equal(end["devices"][0]["unexplained_bytes"], None)
        lines = {row["line"] for row in report(box, rec, "--by", "tensor", "--at", "end")["rows"]}
        check(lines <= {"train.py:%d in step" % line for line in range(1, 8)}, lines)


@case
def what_was_there_before_is_there_and_said(box):
    for seed in range(4):
        a = Allocator(seed=seed, capacity=600 * MIB if seed % 2 else 1 << 40)
        course(a, 1500, seed, streams=(0, 8), shared=0.2)
        rec = imported(box, with_times(a.snapshot(500 + 100 * seed)))
        check_equal(pools(box, rec, "end")[0], (a.allocated, a.reserved))
        check_says(" ".join(said(box, rec)), "in the middle of the run", "were there before")


@case
def the_end_is_what_the_file_says(box):
    """Whatever events are missing."""
    a = Allocator(seed=3)
    course(a, 600, 3)
    holes = with_times(a.snapshot())
    for trace in holes["device_traces"]:
        del trace[100:400:7]
    rec = imported(box, holes)
    check_equal(pools(box, rec, "end")[0], (a.allocated, a.reserved))
    check_says(" ".join(said(box, rec)), "does not follow from its events", "replaying it gives something else")


@case
def a_file_without_events_is_a_moment(box):
    a = Allocator()
    course(a, 300, 1)
    whole = a.snapshot()
    for data in (whole["segments"], {"segments": whole["segments"]}, dict(whole, device_traces=[[]])):
        rec = imported(box, data)
        check_equal(pools(box, rec, "end")[0], (a.allocated, a.reserved))
        check_says(" ".join(said(box, rec)), "it has no events")


def line_labels(box, rec):
    """Of lines that segments were made at."""
    return {row["label"] for row in report(box, rec, "--by", "line", "--at", "end")["rows"] if row["device"] is not None and row["bytes"]}


@case
def segments_without_a_line_say_so(box):
    """No address of PyTorch's library is made up; of autograd's threads, it is known that they were it."""
    a = Allocator()
    course(a, 300, 1)
    check("no line in the snapshot" in line_labels(box, imported(box, a.snapshot())), "no line")
    frames = [{"name": "c10::Allocator::allocate(unsigned long)", "filename": "??", "line": 0},
              {"name": "torch::autograd::Engine::thread_main()", "filename": "??", "line": 0}]
    snapshot = with_times(a.snapshot())
    for entry in snapshot["device_traces"][0]:
        if "frames" in entry:
            entry["frames"] = frames
    found = line_labels(box, imported(box, snapshot))
    check("backward (autograd's threads, no Python line)" in found, found)
    for entry in snapshot["device_traces"][0]:
        if "frames" in entry:
            entry["frames"] = frames[:1]
    found = line_labels(box, imported(box, snapshot))
    check("?? in c10::Allocator::allocate(unsigned long)" in found, found)
    check(not any("+0x" in label for label in found), found)


@case
def several_gpus_are_in_one_order_of_time(box):
    """Of which device a trace is, its place says: one has more events than a pickle has in one piece, and one has none."""
    one, two = Allocator(seed=1), Allocator(seed=2)
    two.next_address -= 1 << 40  # GPUs of one process have no address in common
    course(one, 1200, 1)
    course(two, 700, 2)
    both, other = with_times(one.snapshot()), with_times(two.snapshot())
    for segment in other["segments"]:
        segment["device"] = 2
    both["segments"] += other["segments"]
    both["device_traces"] += [[]] + other["device_traces"]
    rec = imported(box, both)
    check_equal(pools(box, rec, "end"), {0: (one.allocated, one.reserved), 2: (two.allocated, two.reserved)})
    check_equal(figures(box, rec, 2)[2:], (two.peak_allocated, two.peak_reserved))
    check_equal(report(box, rec)["degraded"], [])


@case
def streams_graphs_and_annotations_are_shown(box):
    a = Allocator(seed=5)
    course(a, 400, 5, pools=(0, 1), streams=(0, 64))
    snapshot = with_times(a.snapshot())
    snapshot["external_annotations"] = [
        {"stage": stage, "name": "Optimizer.step#Adam.step", "device": 0, "time_us": 1700000000000000 + at}
        for at, stage in ((100, "START"), (20000, "END"), (30000, "START"), (50000, "END"))]
    rec = imported(box, snapshot)
    row = [r for r in report(box, rec, "--by", "phase")["rows"] if r["label"] == "Optimizer.step#Adam.step"][0]
    check_equal((row["source"], row["count"]), ("torch", 2), row)
    text = box.tare("report", rec, "--by", "pool", "--at", "end").out
    check_says(text, "external stream 0x40", "segments for graph")
    check_says(" ".join(said(box, rec)), "it does not name graphs")


@case
def memory_that_ran_out_is_a_moment(box):
    a = Allocator(seed=2, capacity=300 * MIB)
    course(a, 1500, 2)
    ran_out = sum(entry["action"] == "oom" for entry in a.trace)
    check(ran_out, "the course never runs out")
    rows = report(box, imported(box, with_times(a.snapshot())))["out_of_memory"]
    check_equal(sum(row["count"] for row in rows), ran_out, rows)


@case
def a_pipe_is_read(box):
    needs_own_command()
    a = Allocator()
    course(a, 200, 4)
    done = subprocess.run(tare_argv("import", "-", "-f", "-o", box.path("p.tare")), input=pickle.dumps(a.snapshot()),
                          capture_output=True, timeout=60, check=False)
    check_equal(done.returncode, 0, done)
    check_equal(pools(box, box.path("p.tare"), "end")[0], (a.allocated, a.reserved))


class Command:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.system, ("touch '%s'" % self.path,)


@case
def hostile_files_end_in_a_sentence(box):
    entry = {"action": "alloc", "addr": 0x7F0000000000, "size": 100, "stream": 0}
    whole = Allocator()
    course(whole, 100, 1)
    for says, data in [
            ("GLOBAL", {"segments": [Command(box.path("ran"))]}),
            ("ends", pickle.dumps(whole.snapshot())[:-100]),
            ("no 'size'", {"segments": [], "device_traces": [[{"action": "alloc", "addr": 5}]]}),
            ("256 streams", {"segments": [], "device_traces": [[dict(entry, stream=i) for i in range(300)]]}),
            ("no memory of any GPU", {"segments": [], "device_traces": []})]:
        path = box.path("bad.pickle")
        with open(path, "wb") as out:
            out.write(data if isinstance(data, bytes) else pickle.dumps(data))
        done = box.tare("import", path, "-o", box.path("bad.tare"))
        check_equal(done.code, 125, done)
        check_says(done.err, says, "bad.pickle")
        check(not os.path.exists(box.path("bad.tare")), says)
    check(not os.path.exists(box.path("ran")), "it was run")


@case
def strange_files_are_imported(box):
    """Times and sizes that cannot be, blocks over others, segments over others: the ledgers still add up."""
    a = Allocator(seed=7)
    course(a, 300, 7)
    for change in (lambda i, e: e.update(time_us=(1 << 63) - 1 if i % 5 else -5),
                   lambda i, e: e.update(addr=a.trace[0]["addr"] + 512 * (i % 9)),
                   lambda i, e: e.update(action=a.trace[-i]["action"]),
                   lambda i, e: e.update(action="segment_map" if i % 2 else "segment_unmap")):
        snapshot = copy.deepcopy(a.snapshot())
        for i, entry in enumerate(snapshot["device_traces"][0]):
            change(i, entry)
        rec = imported(box, snapshot)
        check_equal(pools(box, rec, "end")[0], (a.allocated, a.reserved))


@case
def damaged_files_end_in_a_sentence_or_a_ledger_that_adds_up(box):
    """Bytes changed at random: whatever is imported can be reported, and its rows add up."""
    a = Allocator(seed=8)
    course(a, 60, 8, streams=(0, 64), pools=(0, 1))
    whole, dice, taken = pickle.dumps(with_times(a.snapshot())), random.Random(1), 0
    for _ in range(60):
        damaged = bytearray(whole)
        for _ in range(dice.choice((1, 1, 4))):
            damaged[dice.randrange(len(damaged))] = dice.randrange(256)
        with open(box.path("d.pickle"), "wb") as out:
            out.write(damaged)
        done = box.tare("import", box.path("d.pickle"), "-f", "-o", box.path("d.tare"))
        check(done.code in (0, 125), done)
        check_equal(done.code == 125, done.err.startswith("tare: "), done)
        if done.code == 0:
            taken += 1
            check_balance(report(box, box.path("d.tare"), "--at", "end"), "damaged")
    check(taken > 10, taken)


@case
def real_snapshots_have_the_totals_of_torch(box):
    """Recorded on an H200, and written by others: read in place."""
    for path in real_files("**/*.pickle"):
        name = os.path.splitext(os.path.basename(path))[0]
        with open(path, "rb") as file:
            segments = pickle.load(file)["segments"]
        rec = imported(box, open(path, "rb").read(), name)
        end = pools(box, rec, "end")[0]
        live = sum(b["size"] for s in segments for b in s["blocks"] if b["state"] == "active_allocated")
        check_equal(end, (live, sum(s["total_size"] for s in segments)), path)
        if name in TORCH:
            check_equal(figures(box, rec), TORCH[name], path)


if __name__ == "__main__":
    main()
