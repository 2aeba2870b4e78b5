#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory snapshots of every version of PyTorch since 2.0: what each has is read, and what it lacks is said."""

import copy
import pickle

import torch_pickler
from caching_allocator import Allocator, course
from harness import case, check, check_equal, check_says, main
from snapshots import figures, imported, pools, replay_figures, report, said, whatif, write

BEGAN = 1700000000000000
FRAMES = [{"name": "step", "filename": "train.py", "line": 12}, {"name": "<module>", "filename": "train.py", "line": 99}]


def blocks_of(snapshot):
    return [block for segment in snapshot["segments"] for block in segment["blocks"]]


def frames_of(s):
    return [frame for entry in s["device_traces"][0] for frame in entry.get("frames", ())]


def to_2_0(s):
    """Blocks have no address; what was asked for, and where, stands in a history."""
    for segment in s["segments"]:
        for key in ("segment_pool_id", "is_expandable", "frames"):
            del segment[key]
    for block in blocks_of(s):
        asked = block.pop("requested_size")
        del block["address"], block["frames"]
        if block["state"] != "inactive":
            block["history"] = [{"addr": 1, "real_size": asked, "frames": FRAMES, "cpp_frames": [{"name": "f", "filename": "??", "line": 0}]}]


def to_2_1(s):
    for block in blocks_of(s):
        if block["state"] != "inactive":
            block["frames"] = FRAMES


def to_2_2(s):
    for at, entry in enumerate(s["device_traces"][0]):
        entry["time_us"] = BEGAN + 1000 * at


def to_2_3(s):
    s["allocator_settings"] = dict(SETTINGS, pinned_num_register_threads=1, release_lock_on_cudamalloc=False, pinned_use_cuda_host_register=False)


def to_2_5(s):
    s["external_annotations"] = [{"stage": stage, "name": "Optimizer.step#Adam.step", "device": 0, "time_us": BEGAN + at}
                                 for at, stage in ((100, "START"), (20000, "END"))]


def to_2_8(s):
    for entry in s["device_traces"][0]:
        entry["compile_context"] = "N/A"


def to_2_9(s):
    s["allocator_settings"]["graph_capture_record_stream_reuse"] = False


def to_2_10(s):
    for entry in s["device_traces"][0]:
        entry["user_metadata"] = ""
    s["device_traces"][0][3]["user_metadata"] = {"step": 3}
    for frame in frames_of(s):
        frame.update(fx_node_op="call", fx_node_name="x", fx_node_target="t", fx_original_trace="a\nb", fx_node_info={})


def to_2_13(s):
    segments = s["segments"]
    for entry in s["device_traces"][0]:
        inside = [g for g in segments if g["address"] <= entry.get("addr", 0) < g["address"] + g["total_size"]]
        entry["pool_id"] = inside[0]["segment_pool_id"] if inside else (0, 0)


def to_2_14(s):
    trace = s["device_traces"][0]
    first = next(entry for entry in trace if entry["action"] == "alloc")
    trace.insert(trace.index(first) + 1, dict(first, action="annotate", user_metadata="weights"))
    s["host_segments"] = [{"address": 1 << 40, "total_size": 4096, "stream": 0, "segment_type": "large", "device": 0,
                           "blocks": [{"address": 1 << 40, "size": 4096, "requested_size": 4000, "state": "active_allocated", "frames": []}]}]
    s["host_traces"] = [[dict(first, addr=1 << 40, size=4000)]]
    s["allocator_settings"].update(trace_alloc_overflowed=False, trace_alloc_max_entries=100000)


LAYOUTS = [("2.0", to_2_0), ("2.1", to_2_1), ("2.2", to_2_2), ("2.3", to_2_3), ("2.5", to_2_5), ("2.8", to_2_8), ("2.9", to_2_9),
           ("2.10", to_2_10), ("2.13", to_2_13), ("2.14", to_2_14)]
SETTINGS = {}


def at_least(version, than):
    return [int(n) for n in version.split(".")] >= [int(n) for n in than.split(".")]


def layout(a, version):
    """What the allocator did, as a version of PyTorch writes it."""
    whole = a.snapshot()
    SETTINGS.update(whole["allocator_settings"])
    s = copy.deepcopy({"segments": whole["segments"], "device_traces": whole["device_traces"]})
    for entry in s["device_traces"][0]:
        if entry["action"] == "alloc":
            entry["frames"] = copy.deepcopy(FRAMES)
    for name, change in LAYOUTS:
        if at_least(version, name) and (name != "2.0" or version == "2.0"):
            change(s)
    return s


def allocator(pools_of_graphs=True):
    a = Allocator(seed=4)
    course(a, 400, 4, streams=(0, 77), shared=0.2, **({"pools": (0, 1)} if pools_of_graphs else {}))
    return a


def check_layout(box, a, version, data):
    got = whatif(box, write(box, data))
    check_equal((got["mismatches"], got["complete"]), (0, True), version, got)
    check_equal(replay_figures(got), (a.allocated, a.reserved, a.peak_allocated, a.peak_reserved), version)
    lacks = " ".join(got["lacks"])
    check_equal("the settings of the allocator" in lacks, not at_least(version, "2.3"), version, lacks)
    check("cannot be what they are called" not in lacks and "does not know" not in lacks, version, lacks)
    rec = imported(box, data)
    check_equal(figures(box, rec), (a.allocated, a.reserved, a.peak_allocated, a.peak_reserved), version)
    notes, degraded = " ".join(report(box, rec)["notes"]), report(box, rec)["degraded"]
    check_equal("it has no times" in notes, not at_least(version, "2.2"), version, notes)
    lines = {row["line"] for row in report(box, rec, "--by", "tensor", "--at", "end")["rows"]}
    check_equal(lines, {"train.py:12 in step"}, version)
    phases = [row["label"] for row in report(box, rec, "--by", "phase")["rows"]]
    check_equal("Optimizer.step#Adam.step" in phases, at_least(version, "2.5"), version, phases)
    if at_least(version, "2.14"):
        check_equal(len(degraded), 1, degraded)
        check_says(degraded[0], "pinned memory of the host was left out: 1 segments, 1 events")
    else:
        check_equal(degraded, [], version)
    return report(box, rec, "--at", "end")


@case
def every_version_is_read(box):
    for version, _ in LAYOUTS:
        a = allocator(version != "2.0")  # 2.0 does not say of which pool a segment is
        check_layout(box, a, version, pickle.dumps(layout(a, version)))


@case
def what_cpp_writes_is_what_python_writes(box):
    """_memory_snapshot_pickled(): frames stand last in a dict, and integers are signed."""
    a = allocator()
    for version in ("2.2", "2.5", "2.13"):
        s = layout(a, version)
        shared = [dict(frame) for frame in FRAMES]
        for of in s["device_traces"][0] + blocks_of(s) + s["segments"]:
            if of.get("frames"):
                del of["frames"]
                of["frames"] = shared
        check_equal(pickle.loads(torch_pickler.dumps(s)), s)
        check_layout(box, a, version, torch_pickler.dumps(s))


@case
def what_a_version_need_not_write_may_lack(box):
    """Each key that a replay can do without."""
    a = allocator()
    for of, keys in ((lambda s: s["segments"], ("device", "stream", "frames", "allocated_size", "active_size", "requested_size")),
                     (blocks_of, ("address", "requested_size", "frames")),
                     (lambda s: s["device_traces"][0], ("time_us", "frames", "compile_context", "user_metadata", "pool_id")),
                     (lambda s: [s], ("external_annotations", "host_segments", "host_traces"))):
        for key in keys:
            s = layout(a, "2.13")
            for d in of(s):
                d.pop(key, None)
            got = whatif(box, write(box, pickle.dumps(s)))
            check_equal((got["mismatches"], got["complete"]), (0, True), key, got)
            rec = imported(box, s)
            check_equal(pools(box, rec, "end")[0], (a.allocated, a.reserved), key)
            check_equal(report(box, rec)["degraded"], [], key)


@case
def actions_may_be_left_out(box):
    """skip_actions of 2.10: requests of frees are not there, completed ones are."""
    a = Allocator(seed=6)
    course(a, 400, 6)
    s = layout(a, "2.10")
    s["device_traces"][0] = [entry for entry in s["device_traces"][0] if entry["action"] != "free_requested"]
    got = whatif(box, write(box, pickle.dumps(s)))
    check_equal((got["mismatches"], got["complete"]), (0, True), got)
    check_equal(replay_figures(got), (a.allocated, a.reserved, a.peak_allocated, a.peak_reserved))


@case
def what_cannot_be_is_said_with_its_byte(box):
    a = allocator()
    for key, value in (("time_us", "noon"), ("time_us", -5), ("frames", 7), ("pool_id", (-1, 0)), ("stream", 0.5)):
        s = layout(a, "2.13")
        s["device_traces"][0][5][key] = value
        data = pickle.dumps(s)
        words = " ".join(said(box, imported(box, data)))
        check_says(words, "1 values cannot be what they are called", f"the first is '{key}' of the dict that ends at byte ")
        at = int(words.split("ends at byte ")[1].split()[0].rstrip(".;").replace(",", ""))
        check_equal(data[at : at + 1], b"u", key)  # SETITEMS
        check_says(" ".join(whatif(box, write(box, data))["lacks"]), "cannot be what they are called")
    s = layout(a, "2.13")
    s["device_traces"][0].insert(7, {"action": "defragment", "moved": 3})
    check_says(" ".join(said(box, imported(box, s))), "1 events that this Tare does not know: the first is called 'defragment'")
    check_says(" ".join(whatif(box, write(box, pickle.dumps(s)))["lacks"]), "events that this Tare does not know")


@case
def texts_that_are_no_unicode_are_shown(box):
    a = allocator()
    s = layout(a, "2.5")
    for entry in s["device_traces"][0]:
        if "frames" in entry:
            entry["frames"] = [{"name": "st\udc80p\x00\x1b[2J", "filename": "tr\ud800in.py", "line": -3}]
    s["external_annotations"][0]["name"] = s["external_annotations"][1]["name"] = "\udfff\n"
    data = pickle.dumps(s)
    check(b"\xed\xa0\x80" in data, "a surrogate alone")
    rec = imported(box, data)
    check_equal(pools(box, rec, "end")[0], (a.allocated, a.reserved))
    text = box.tare("report", rec, "--by", "tensor", "--at", "end").out
    check_says(text, "in.py")
    check("\x1b" not in text, text)


if __name__ == "__main__":
    main()
