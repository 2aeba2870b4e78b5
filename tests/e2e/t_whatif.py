#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tare whatif: snapshots of a second model of the allocator, of every protocol, hostile ones, and those of real programs."""

import gzip
import json
import os
import pickle
import random
import resource
import subprocess

import caching_allocator
from caching_allocator import MIB, TORCH, Allocator, course
from harness import case, check, check_equal, check_says, fixture, main, needs_own_command, real_files, tare_argv
from snapshots import replay_figures as figures
from snapshots import whatif, write


def check_model(box, a, kept=None):
    got = whatif(box, write(box, pickle.dumps(a.snapshot(kept))))
    check_equal(got["mismatches"], 0, got)
    check_equal(got["complete"], not kept)
    check_equal(got["events"], kept or len(a.trace))
    check_equal(figures(got)[:2], (a.allocated, a.reserved))
    if not kept:
        check_equal(figures(got)[2:], (a.peak_allocated, a.peak_reserved))
        count = lambda action: sum(e["action"] == action for e in a.trace)
        check_equal((got["driver_allocs"], got["driver_frees"], got["oom"]),
                    (count("segment_alloc"), count("segment_free"), count("oom")))


@case
def settings_and_streams_are_reproduced(box):
    for seed, (settings, what) in enumerate([
            ({}, {}),
            ({}, {"streams": (0, 77, 5), "shared": 0.3, "empty": 0.01}),
            ({"capacity": 600 * MIB}, {}),
            ({"limit": 700 * MIB}, {"streams": (0, 9), "shared": 0.2}),
            ({"max_split": 32 * MIB, "capacity": 900 * MIB}, {"empty": 0.01}),
            ({"limit": 900 * MIB, "gc": 0.6}, {}),
            ({"limit": 700 * MIB, "gc": 0.7, "max_split": 32 * MIB}, {}),
            ({"limit": 500 * MIB}, {"streams": (0, 3, 9), "shared": 0.4, "empty": 0.005}),
            ({"divisions": 4, "capacity": 800 * MIB}, {}),
            ({}, {"pools": (0, 1, 2), "streams": (0, 3)})]):
        a = Allocator(seed=seed, **settings)
        course(a, 1500, seed, **what)
        check_model(box, a)


@case
def a_trace_may_begin_in_the_middle(box):
    for seed in range(6):
        a = Allocator(seed=seed, capacity=600 * MIB if seed % 2 else caching_allocator.UNLIMITED)
        course(a, 2000, seed, streams=(0, 9), shared=0.2 if seed % 3 else 0, empty=0.005)
        check_model(box, a, kept=1200 + 100 * seed)
    a = Allocator(seed=100, capacity=800 * MIB, divisions=4)  # a free block of the next segment is not behind what was taken in one
    course(a, 2000, 100)
    check_model(box, a, kept=len(a.trace) // 2)
    a = Allocator(seed=106, limit=900 * MIB, gc=0.6)  # how old free blocks were is not known
    course(a, 2000, 106)
    check_model(box, a, kept=len(a.trace) // 2)
    a = Allocator(seed=11, capacity=700 * MIB, max_split=25 * MIB)
    course(a, 2000, 11)
    check_model(box, a, kept=1500)


@case
def pools_that_are_gone_are_found(box):
    """A graph is reset, its segments are released: no file says which pool they were of, but their order does."""
    for seed in (0, 2, 4):
        a = Allocator(seed=seed)
        for b in course(a, 500, seed, pools=(0, 1, 2)):
            if b.segment["where"][0]:
                a.free(b)
        a.released_pools = [2, 1]
        a.empty_cache()
        course(a, 500, seed + 100, pools=(0, 3))
        check_model(box, a)


@case
def pages_that_went_one_by_one_may_come_back_at_once(box):
    """Expandable: two stretches of pages are unmapped in turn, and mapped again by one call, which spans both."""
    base = 0x7F0000000000
    live, trace = {}, []

    def say(action, at, size):
        trace.append({"action": action, "addr": base + at * MIB, "size": size * MIB, "stream": 0})

    def free(at):
        for action in ("free_requested", "free_completed"):
            say(action, at, live[at])
        del live[at]

    for mapped, at, size in (((0, 40), 0, 30), (None, 30, 10), ((40, 20), 40, 20)):
        if mapped:
            say("segment_map", *mapped)
        live[at] = size
        say("alloc", at, size)
    free(0)
    say("segment_unmap", 0, 20)
    free(30)
    say("segment_unmap", 20, 20)
    say("segment_map", 0, 40)
    live[0] = 40
    say("alloc", 0, 40)
    blocks = [{"address": base + at * MIB, "size": live[at] * MIB, "requested_size": live[at] * MIB, "state": "active_allocated",
               "frames": []} for at in sorted(live)]
    snapshot = {"segments": [{"device": 0, "address": base, "total_size": 60 * MIB, "stream": 0, "segment_type": "large",
                              "segment_pool_id": (0, 0), "is_expandable": True, "frames": [], "blocks": blocks}],
                "device_traces": [trace], "allocator_settings": {
                    "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True", "expandable_segments": True, "max_split_size": -1,
                    "garbage_collection_threshold": 0.0}}
    got = whatif(box, write(box, pickle.dumps(snapshot)))
    check_equal((got["mismatches"], got["complete"]), (0, True), got)
    check_equal(figures(got), (60 * MIB,) * 4)
    check_equal((got["driver_allocs"], got["driver_frees"]), (3, 2))


@case
def every_protocol_says_the_same(box):
    a = Allocator()
    course(a, 300, 1)
    said = [whatif(box, write(box, pickle.dumps(a.snapshot(), protocol))) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
    check(all(s == said[0] for s in said), said)
    check_equal(said[0]["mismatches"], 0)


@case
def a_snapshot_may_be_packed_or_come_through_a_pipe(box):
    needs_own_command()
    a = Allocator()
    course(a, 300, 1)
    data = pickle.dumps(a.snapshot())
    plain = whatif(box, write(box, data))
    check_equal(whatif(box, write(box, gzip.compress(data), "s.pickle.gz")), plain)
    done = subprocess.run(tare_argv("whatif", "-", "--json"), input=data, capture_output=True, timeout=60, check=False)
    check_equal((done.returncode, json.loads(done.stdout)), (0, plain), done)
    cut = box.tare("whatif", write(box, gzip.compress(data)[:-2000], "c.pickle.gz"))
    check_equal(cut.code, 125, cut)
    check_says(cut.err, "c.pickle.gz: what is packed in it", "ends in the middle")
    for says, other in (("torch.profiler", b'{"schemaVersion": 1, "traceEvents": []}'), ("no memory of any GPU", pickle.dumps([]))):
        done = box.tare("whatif", write(box, other, "other"))
        check_equal(done.code, 125, done)
        check_says(done.err, "other: ", says)


@case
def what_is_said_of_a_replay(box):
    a = Allocator()
    course(a, 1500, 3)
    whole = a.snapshot()
    path = write(box, pickle.dumps(whole))
    text = box.tare("whatif", path, "--vram", "300MiB").out
    check_says(text, "2,254 events, as PyTorch 2.11 does it", "--used says what is not")
    check_equal(whatif(box, path, "--vram", "300MiB", code=3)["cases"][1]["saved_bytes"], None)
    check_says(box.tare("whatif", path, "--best").out, "PyTorch 2.10 and later")
    check("large_segment_size_mb" not in box.tare("whatif", path, "--best", "--torch", "2.8").out, "2.8")
    nothing = box.tare("whatif", write(box, pickle.dumps(whole["segments"]))).out
    check("reproduce" not in nothing, nothing)
    whole["segments"][-1]["blocks"][0]["size"] -= 512
    check_says(box.tare("whatif", write(box, pickle.dumps(whole))).out, "block at the end differs.")


@case
def segments_alone_are_a_snapshot(box):
    """torch.cuda.memory_snapshot() is a list; and a file may have no history."""
    a = Allocator()
    course(a, 300, 1)
    whole = a.snapshot()
    for data in (whole["segments"], dict(whole, device_traces=[[]]), {"segments": whole["segments"]}):
        got = whatif(box, write(box, pickle.dumps(data)))
        check_equal(figures(got)[:2], (a.allocated, a.reserved))
        check_equal((got["mismatches"], got["complete"], got["events"]), (0, False, 0))
        check_says(got["lacks"][0], "_record_memory_history")


@case
def old_layouts_are_read(box):
    """2.0: blocks without an address, what was asked for in a history; no settings, no times."""
    a = Allocator()
    course(a, 400, 2)
    old = a.snapshot()
    for segment in old["segments"]:
        for key in ("segment_pool_id", "is_expandable", "frames"):
            del segment[key]
        for block in segment["blocks"]:
            asked = block.pop("requested_size")
            del block["address"], block["frames"]
            if block["state"] != "inactive":
                block["history"] = [{"addr": 1, "real_size": asked, "frames": [{"name": "f", "filename": "g", "line": 1}]}]
    got = whatif(box, write(box, pickle.dumps({k: old[k] for k in ("segments", "device_traces")})))
    check_equal((got["mismatches"], got["complete"]), (0, True), got)


def recorded(box, a, name="r"):
    """A recording of what the allocator did."""
    rec = box.path(name + ".tare")
    done = box.tare("import", write(box, pickle.dumps(a.snapshot()), name + ".pickle"), "-f", "-o", rec)
    check_equal(done.code, 0, done)
    return rec


@case
def a_recording_has_what_a_snapshot_has(box):
    """Streams, private pools of graphs, limits: no address differs, and the peaks are the allocator's own."""
    for seed, (settings, what) in enumerate([
            ({}, {}),
            ({"capacity": 600 * MIB}, {}),
            ({}, {"streams": (0, 77, 5), "empty": 0.01}),
            ({"limit": 700 * MIB}, {"streams": (0, 9)}),
            ({}, {"pools": (0, 1, 2)})]):
        a = Allocator(seed=seed, **settings)
        course(a, 1200, seed, **what)
        got = whatif(box, recorded(box, a))
        check_equal((got["mismatches"], got["complete"]), (0, True), seed, got)
        check_equal(figures(got), (a.allocated, a.reserved, a.peak_allocated, a.peak_reserved), seed)
        check_equal(got["driver_allocs"], sum(e["action"] == "segment_alloc" for e in a.trace))


@case
def waits_for_other_streams_follow_from_addresses(box):
    """record_stream: a recording has when a block was freed, and not when the other stream was done with it."""
    waited = 0
    for seed, shared in ((0, 0.2), (1, 0.02), (1, 0.2), (2, 0.02), (3, 0.2)):
        a = Allocator(seed=seed)
        course(a, 1500, seed, streams=(0, 9), shared=shared)
        got = whatif(box, recorded(box, a))
        check_equal((got["mismatches"], got["complete"]), (0, True), seed, shared, got)
        check_equal(got["peak_reserved_bytes"], a.peak_reserved, seed, shared)
        waited += "follows from its addresses" in " ".join(got["lacks"])
    check_equal(waited, 5)
    a = Allocator(seed=1)
    course(a, 1500, 1, streams=(0, 9))
    check_says(" ".join(whatif(box, recorded(box, a))["lacks"]), "it is reused as soon as it was freed")


@case
def waits_do_not_explain_what_is_missing(box):
    """A block that the recording lacks lies where the replay takes it for free, and was freed by nobody."""
    a = Allocator(seed=1)
    course(a, 800, 1)
    snapshot = a.snapshot()
    trace = snapshot["device_traces"][0]
    lost = [at for at, entry in enumerate(trace) if entry["action"] == "alloc"][40:400:9]
    for at in reversed(lost):
        del trace[at]
    a.snapshot = lambda: snapshot
    check(whatif(box, recorded(box, a))["mismatches"] > 0)


@case
def a_recording_under_other_settings(box):
    a = Allocator()
    course(a, 1500, 3)
    rec, snapshot = recorded(box, a), box.path("r.pickle")
    for options in (("--alloc-conf", "expandable_segments:True"), ("--alloc-conf", "large_segment_size_mb:40"), ("--vram", "100GiB")):
        ours, theirs = figures(whatif(box, rec, *options)), figures(whatif(box, snapshot, *options))
        check(abs(ours[3] - theirs[3]) <= 2 * MIB, options, ours, theirs)
    got = whatif(box, rec, "--vram", str(a.peak_reserved // 2), code=3)
    check(got["first_oom"]["was_served"] and got["first_oom"]["device"] == 0, got)
    check(got["first_oom"]["line"] is None or ":" in got["first_oom"]["line"], got)
    check_says(" ".join(got["lacks"]), "the sizes of blocks")


def grow(a, size, count):
    """Blocks that all go, and then larger ones: what is cached has room for none of them."""
    for block in [a.malloc(size * MIB) for _ in range(count)]:
        a.free(block)
    return [a.malloc((size + 4) * MIB) for _ in range(count)]


@case
def the_report_says_what_a_replay_found(box):
    a = Allocator()
    grow(a, 24, 20)
    rec = recorded(box, a)
    saved = whatif(box, rec)["peak_reserved_bytes"] - whatif(box, rec, "--alloc-conf", "expandable_segments:True")["peak_reserved_bytes"]
    check(saved > 256 * MIB, saved)
    report = box.report(rec, at="peak")
    check_equal([(r["saves_bytes"], r["known"]) for r in report["advice"] if r["advice"] == "expandable"], [(saved, "computed")], report["advice"])
    check_says(box.tare("report", rec).out, "expandable_segments:True")
    a = Allocator()
    grow(a, 24, 4)  # not worth a word
    check_equal([r for r in box.report(recorded(box, a, "small"), at="peak")["advice"] if r["advice"] == "expandable"], [])


@case
def the_report_says_what_would_not_have_run_out(box):
    for seed, limit, is_served in ((3, 500, True), (5, 600, True), (0, 400, False)):
        a = Allocator(seed=seed, limit=limit * MIB)
        course(a, 1200, seed)
        ran_out = sum(entry["action"] == "oom" for entry in a.trace)
        rec = recorded(box, a)
        got = json.loads(box.tare("whatif", rec, "--alloc-conf", "expandable_segments:True", "--json").out)
        check_equal(got["first_oom"] is None and not got["orders_that_run_out"], is_served, got)
        found = [(row["known"], row["count"]) for row in box.report(rec, at="peak")["advice"] if row["advice"] == "served"]
        check_equal(found, [("computed", ran_out)] if is_served else [])


@case
def a_block_may_have_been_asked_for_as_less(box):
    """31.5 MiB take a block of 32 MiB, of which max_split_size_mb:32 cuts what it does not cut of one of 32 MiB asked for."""
    a = Allocator(max_split=32 * MIB)
    a.free(a.malloc(31 * MIB + MIB // 2))
    for _ in range(3):
        a.free(a.malloc(31 * MIB + MIB // 2))
        small = a.malloc(20 * MIB)
        a.malloc(40 * MIB)
        a.free(small)
    rec = recorded(box, a)
    path = os.path.join(rec, "recording.json")
    with open(path) as file:
        told = json.load(file)
    told["environment"] = {"PYTORCH_CUDA_ALLOC_CONF": "max_split_size_mb:32"}
    with open(path, "w") as file:
        json.dump(told, file)
    got = whatif(box, rec)
    check_equal((got["mismatches"], got["peak_reserved_bytes"]), (0, a.peak_reserved), got)


@case
def recordings_without_blocks_of_pytorch(box):
    os.mkdir(box.path("empty.tare"))
    for rec in ("empty.tare", "none.tare"):
        done = box.tare("whatif", rec)
        check_equal(done.code, 125, done)
        check_says(done.err, rec)
    box.record(fixture("e2e_alloc"))
    done = box.tare("whatif", "rec.tare")
    check_equal(done.code, 125, done)
    check_says(done.err, "rec.tare: no process in it has blocks of PyTorch's on a GPU")


@case
def blocks_that_a_program_reported(box):
    """Of a library that looks like PyTorch's, recorded: what it took from the driver, and one block twice as large as told."""
    box.record(fixture("e2e_tensors") + ["new"])
    got = whatif(box, "rec.tare")
    check_equal((got["complete"], got["events"] > 2000), (True, True), got)
    check_equal(got["allocated_bytes"], 16 * MIB + 512)


@case
def other_settings_and_cards(box):
    a = Allocator()
    course(a, 1500, 3)
    path = write(box, pickle.dumps(a.snapshot()))
    got = whatif(box, path, "--alloc-conf", "expandable_segments:True")
    check_equal(got["cases"][0]["peak_reserved_bytes"], a.peak_reserved)
    check_equal(got["cases"][1]["settings"], "expandable_segments:True")
    check(got["peak_reserved_bytes"] < a.peak_reserved, got)
    check_equal(got["mismatches"], 0)
    same = whatif(box, path, "--alloc-conf", "")
    check_equal(figures(same)[2:], (a.peak_allocated, a.peak_reserved))
    small = whatif(box, path, "--vram", "300MiB", "--used", "50MiB", code=3)
    check(small["oom"] == 1 and small["peak_reserved_bytes"] <= 250 * MIB, small)
    check(small["first_oom"]["was_served"], small)
    check_equal(small["mismatches"], 0)
    best = whatif(box, path, "--best")["best"]
    check_equal([b["peak_reserved_bytes"] for b in best], sorted(b["peak_reserved_bytes"] for b in best))
    text = box.tare("whatif", path, "--best").out
    check_says(text, "as recorded", "expandable_segments:True", "reproduces the file")


@case
def what_just_fits_depends_on_addresses(box):
    a, dice, kept = Allocator(), random.Random(11), []
    for _ in range(1500):
        kept.append(a.malloc(int(2 ** dice.uniform(9, 26))))
        if len(kept) > 60:
            a.free(kept.pop(dice.randrange(len(kept))))
    path = write(box, pickle.dumps(a.snapshot()))
    for percent, end in ((110, None), (100, "maybe"), (60, "yes")):
        options = ("--alloc-conf", "roundup_power2_divisions:2", "--vram", str(a.peak_reserved * percent // 100))
        got = json.loads(box.tare("whatif", path, *options, "--json").out)
        check_equal(got["cases"][1]["runs_out"], end, got)
        ran_out = got["orders_that_run_out"]
        check({None: ran_out == 0, "maybe": 0 < ran_out < 12, "yes": ran_out == 12}[end], got)
        check_equal("depends on the addresses" in box.tare("whatif", path, *options).out, end == "maybe")


@case
def mistakes_are_said(box):
    a = Allocator()
    course(a, 50, 1)
    path = write(box, pickle.dumps(a.snapshot()))
    for options, says in [
            (["--alloc-conf", "no_such:1"], "no_such"),
            (["--alloc-conf", "backend:cudaMallocAsync"], "cudaMallocAsync"),
            (["--torch", "1.13"], "1.13"),
            (["--torch", "2.0", "--alloc-conf", "expandable_segments:True"], "2.1"),
            (["--used", "1GiB"], "--vram"),
            (["--vram", "24"], "--vram 24GiB"),
            (["--vram", "2GiB", "--used", "2GiB"], "must be less"),
            (["--json", "--csv"], "--csv")]:
        done = box.tare("whatif", path, *options)
        check(done.code in (2, 125), done)
        check_says(done.err, says)
    check_says(box.tare("whatif", os.path.join(box.dir, "none")).err, "none")
    trace = a.snapshot()
    trace["device_traces"][0].pop(len(a.trace) // 2)
    got = whatif(box, write(box, pickle.dumps(trace)))
    check(not got["complete"], got)
    check_says(" ".join(got["lacks"]), "missing")


class Command:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.system, ("touch '%s'" % self.path,)


def hostile(box):
    ran = os.path.join(box.dir, "ran")
    circle = []
    circle.append(circle)
    doubled = []
    for _ in range(60):
        doubled = [doubled, doubled]
    entry = {"action": "alloc", "addr": 0x7F0000000000, "size": 100, "stream": 0}
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        yield "GLOBAL", pickle.dumps({"segments": [Command(ran)]}, protocol)
    yield "lists and dicts", b"\x80\x04" + b"]" * 3000000
    yield "nested", b"\x80\x04" + b"(" * 3000000
    yield "values", b"\x80\x04(" + b"N" * 30000000
    yield "ends", b"\x80\x04\x8d" + b"\xff" * 7 + b"\x0fx"
    yield "remembered", b"\x80\x02]r\xff\xff\xff\xff."
    yield "fetched", pickle.dumps({"segments": circle})
    yield "fetched", pickle.dumps({"segments": doubled})
    yield "empty", b""
    yield "pickle", b"hello\n"
    yield "gzip", b"\x1f\x8b\x08\x00"
    yield "no memory snapshot", pickle.dumps({"a": 1})
    yield "-5 bytes", pickle.dumps({"device_traces": [[dict(entry, size=-5)]], "segments": []})
    yield "no 'size'", pickle.dumps({"device_traces": [[{"action": "alloc", "addr": 5}]], "segments": []})
    yield "no list", pickle.dumps({"device_traces": [entry], "segments": []})
    yield "256 streams", pickle.dumps({"device_traces": [[dict(entry, stream=i) for i in range(300)]], "segments": []})
    whole = Allocator()
    course(whole, 100, 1)
    yield "ends", pickle.dumps(whole.snapshot())[:-100]


@case
def hostile_files_end_in_a_sentence(box):
    """With the byte, within 64 MiB, and without running anything."""
    needs_own_command()
    for says, data in hostile(box):
        path = write(box, data)
        limit = lambda: resource.setrlimit(resource.RLIMIT_DATA, (64 * MIB, 64 * MIB))
        done = subprocess.run(tare_argv("whatif", path), preexec_fn=limit, capture_output=True, timeout=60, check=False)
        err = done.stderr.decode()
        check_equal(done.returncode, 125, err)
        check_says(err, says)
        check("byte " in err or says == "256 streams", err)
    check(not os.path.exists(os.path.join(box.dir, "ran")), "it was run")


@case
def real_snapshots_are_reproduced(box):
    """Recorded on an H200, and written by others: read in place."""
    for path in real_files("**/*.pickle"):
        name = os.path.splitext(os.path.basename(path))[0]
        got = whatif(box, path)
        if got["complete"]:
            check_equal(got["mismatches"], 0, path, got)
        if name in TORCH:
            check(got["complete"], path)
            check_equal(figures(got), TORCH[name], path)


if __name__ == "__main__":
    main()
