#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces of torch.profiler with their memory, as recordings."""

import gzip
import json
import random

from harness import case, check, check_equal, check_says, main, real_files

MIB = 1 << 20
BASE = 0x7F0000000000


def memory(ts, size, address, allocated, reserved, device=0, tid=7):
    args = {"Total Reserved": reserved, "Total Allocated": allocated, "Bytes": size, "Addr": address,
            "Device Id": device, "Device Type": 0 if device < 0 else 1, "Ev Idx": 3}
    return {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 70, "tid": tid, "ts": ts,
            "args": args}


def span(cat, name, ts, dur, tid=7):
    return {"ph": "X", "cat": cat, "name": name, "pid": 70, "tid": tid, "ts": ts, "dur": dur, "args": {"Ev Idx": 1}}


# 10 MiB were there before, 4 of them go; 6 MiB are held by step() inside Linear_0, and 1 MiB by an operator of a thread without Python.
EVENTS = [
    span("cpu_op", "aten::linear", 1010.5, 50), span("cpu_op", "aten::empty", 1019.5, 2),
    span("cpu_op", "aten::mm", 1110, 20, 9), span("cpu_op", "aten::empty", 1119, 2, 9),
    span("user_annotation", "ProfilerStep#3", 1001, 200),
    memory(1120, MIB, BASE + 64 * MIB, 13 * MIB, 24 * MIB, tid=9),
    memory(1020.25, 6 * MIB, BASE, 16 * MIB, 24 * MIB),
    memory(1000, 8, 512, 8, 0, device=-1),
    memory(1060, -4 * MIB, BASE + 32 * MIB, 12 * MIB, 24 * MIB),
    memory(1190, -6 * MIB, BASE, 7 * MIB, 18 * MIB),
    span("python_function", "train.py(12): step", 1005, 190),
    span("python_function", "nn.Module: Linear_0", 1008, 60),
    span("python_function", "<built-in method empty>", 1018, 5),
    {"ph": "M", "name": "process_name", "pid": 70, "tid": 0, "ts": 1000, "args": {"name": "python3"}},
]


def trace(events, **members):
    return {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU Ω", "totalGlobalMem": 1 << 34}],
            "baseTimeNanoseconds": 1700000000 * 10**9, **members, "traceEvents": events}


def write(box, what, name="trace.json"):
    data = what if isinstance(what, bytes) else json.dumps(what).encode()
    with open(box.path(name), "wb") as file:
        file.write(gzip.compress(data) if name.endswith(".gz") else data)
    return name


def imported(box, what, name="trace.json"):
    done = box.tare("import", write(box, what, name), "-f", "-o", "trace.tare")
    check_equal(done.code, 0, done)
    return done.out


def report(box, *options):
    done = box.tare("report", "trace.tare", "--json", *options)
    check_equal(done.code, 0, done)
    return json.loads(done.out)


@case
def a_trace_is_a_recording(box):
    for what, name in ((trace(EVENTS), "trace.json"), (trace(EVENTS), "trace.json.gz"), (EVENTS, "list.json")):
        said = imported(box, what, name)
        check_says(said, "5 memory events, 1 GPU", "tensors of up to 16,777,216 bytes, as its totals say")
    imported(box, trace(EVENTS))
    at_peak = report(box, "--at", "peak")
    check_equal(at_peak["devices"][0]["name"], "GPU Ω")
    check_equal(at_peak["devices"][0]["total_bytes"], 1 << 34)
    check_equal([d["used_bytes"] for d in at_peak["devices"]], [24 * MIB])
    check_equal([d["used_bytes"] for d in report(box, "--at", "end")["devices"]], [18 * MIB])
    check_equal(at_peak["degraded"], [])
    check_says(" ".join(at_peak["notes"]), "a trace of torch.profiler", "6,291,456 bytes were there before")
    text = box.tare("report", "trace.tare", "--by", "line").out
    check_says(text, "train.py:12 in step", "aten::mm", "before the trace", "no line in the trace")
    check("aten::empty" not in text and "built-in" not in text, text)
    check_says(box.tare("report", "trace.tare", "--by", "module").out, "Linear_0")
    check_says(box.tare("report", "trace.tare", "--by", "phase").out, "ProfilerStep#3")
    check_says(box.tare("report", "trace.tare", "--at", "end").out, "live tensors", "7.0")


@case
def modules_have_their_classes(box):
    """The number behind a name tells modules of one class apart; a class may end with a number of its own."""
    names = ["Linear_0", "Linear_25", "Block_2_0", "Block_2_1", "Odd", "_7", "Linear_0"]
    events = []
    for i, name in enumerate(names):
        events.append(span("python_function", f"nn.Module: {name}", 100 * i, 50))
        events.append(memory(100 * i + 20, MIB, BASE + i * MIB, (i + 1) * MIB, 32 * MIB))
    imported(box, trace(events))
    got = report(box, "--by", "module", "--at", "end")
    check_equal(sorted((r["module"], r["class"], r["own_bytes"] // MIB, r["is_found"]) for r in got["rows"]),
                [("Block_2_0", "Block_2", 1, True), ("Block_2_1", "Block_2", 1, True), ("Linear_0", "Linear", 2, True),
                 ("Linear_25", "Linear", 1, True), ("Odd", "Odd", 1, True), ("_7", "_7", 1, True)])
    check_equal(sorted((c["class"], c["modules"], c["own_bytes"] // MIB) for c in got["classes"]),
                [("Block_2", 2, 2), ("Linear", 2, 3), ("Odd", 1, 1), ("_7", 1, 1)])


@case
def older_traces_have_no_addresses(box):
    def old(ts, size, device=0):
        event = memory(ts, size, 1, 0, 0, device)
        for key in ("Addr", "Total Allocated", "Total Reserved"):
            del event["args"][key]
        return event

    events = [old(5, MIB), old(1, 3 * MIB), old(2, -3 * MIB), old(3, 3 * MIB), old(7, -MIB), old(6, 100), old(4, 64, -1)]
    check_says(imported(box, trace(events)), "7 memory events, 1 GPU →")
    got = report(box, "--at", "peak")
    check_equal(got["devices"][0]["used_bytes"], 4 * MIB + 100)
    check_says(" ".join(got["notes"]), "it has no addresses", "does not have how much the allocator holds")
    check_equal(got["degraded"], [])


@case
def totals_that_do_not_add_up_are_told(box):
    events = [memory(1, MIB, BASE, MIB, 2 * MIB), memory(2, MIB, BASE + MIB, 3 * MIB, 2 * MIB)]
    check("as its totals say" not in imported(box, trace(events)))
    check_says(" ".join(report(box)["degraded"]), "do not add up", "1 of 2 events")
    events = [memory(1, 8 * MIB, BASE, 8 * MIB, 2 * MIB)]
    imported(box, trace(events))
    check_says(" ".join(report(box)["degraded"]), "more memory than it says is held, by up to 6,291,456 bytes")


@case
def what_is_broken_is_told(box):
    good = memory(1, MIB, BASE, MIB, 2 * MIB)
    bad = [dict(good, ts="x"), dict(good, ts=-1), dict(good, ts=1e300), dict(good, args=[]), dict(good, args=None), dict(good, ts=None)]
    for key, value in (("Bytes", 0), ("Bytes", 2**63), ("Bytes", -(2**63)), ("Bytes", 1 << 60), ("Bytes", "1"), ("Addr", 1 << 63),
                       ("Device Id", -5), ("Device Id", 64), ("Device Type", 12), ("Device Type", "CUDA")):
        bad.append(dict(good, args=dict(good["args"], **{key: value})))
    imported(box, trace(bad + [good]))
    check_says(" ".join(report(box)["degraded"]), "16 memory events cannot be read")
    odd = [None, 5, "x", [], {}, {"name": None}, {"name": "[memory]x"}, span("cpu_op", 7, 1, 2), span("cpu_op", "a", "b", -4)]
    imported(box, trace(odd + [good]))
    check_equal(report(box)["devices"][0]["used_bytes"], 2 * MIB)
    # What cannot be parsed is left out, and the rest is read.
    text = json.dumps(trace([good]))[:-2].encode()
    for broken in (b',{"name":"[memory]",\xff\x00}', b',{"name":"[memory]","a":' + b"[" * 5000 + b"]" * 5000 + b"}",
                   b',{"name":"[memory]","a":"' + b"x" * (2 << 20) + b'"}'):
        imported(box, text + broken + b"]}")
        if len(broken) < MIB:
            check_says(" ".join(report(box)["degraded"]), "1 values of it are no JSON")
    # One that ends in the middle is read up to there.
    whole = json.dumps(trace(EVENTS)).encode()
    cut = imported(box, whole[:whole.index(b'"process_name"')])
    check_says(cut, "5 memory events")
    check_says(" ".join(report(box)["degraded"]), "it ends in the middle")


@case
def what_is_no_trace_is_an_error_in_a_sentence(box):
    no_memory = json.dumps(trace([span("cpu_op", "a", 1, 2)])).encode()
    for data, words in ((no_memory, "profile_memory=True"), (b"[" * 3000000, "[memory]"), (b'{"traceEvents": 5}', "[memory]"),
                        (b'{"traceEvents": [1 2]}', "byte 19: `,` or `]` was expected"), (b'{"traceEvents" 5}', "`:` was expected"),
                        (b'{"traceEvents": [}', "a value was expected"), (b'{"schemaVersion": 1, 5: 6}', "a name in quotes"),
                        (b'[{"ph": "X"}, {"name": "[memory]"}]', "[memory]")):
        done = box.tare("import", write(box, data), "--from", "kineto", "-o", "none.tare")
        check_equal(done.code, 125, done)
        check_says(done.err, words)
        check_equal(len(done.err.splitlines()), 1, done)
    data = gzip.compress(json.dumps(trace(EVENTS * 50)).encode())
    with open(box.path("cut.json.gz"), "wb") as file:
        file.write(data[: len(data) // 2])
    done = box.tare("import", "cut.json.gz", "-o", "cut.tare")
    check(done.code in (0, 125), done)


@case
def any_damage_is_survived(box):
    whole = json.dumps(trace(EVENTS)).encode()
    dice = random.Random(7)
    for _ in range(60):
        data = bytearray(whole)
        for _ in range(dice.randrange(1, 12)):
            data[dice.randrange(len(data))] = dice.choice(b'{}[]",:\\0e9-\x00\xff')
        done = box.tare("import", write(box, bytes(data)), "--from", "kineto", "-f", "-o", "trace.tare")
        check(done.code in (0, 125), done)
        if not done.code:
            check_equal(box.tare("report", "trace.tare").code, 0)


def check_modules_of(box, names):
    """Each module is one that the trace names, and a class has what its modules have."""
    got = report(box, "--by", "module", "--at", "peak")
    sums = {}
    for row in got["rows"]:
        if row["module"] not in ("(no module)", "(backward)"):
            check(row["module"] in names, row)
            check_equal(row["class"], row["module"].rpartition("_")[0])
            key = (row["device"], row["pid"] if row["device"] is None else None, row["class"])
            count, own = sums.get(key, (0, 0))
            sums[key] = (count + 1, own + row["own_bytes"])
    check_equal({(c["device"], c["pid"], c["class"]): (c["modules"], c["own_bytes"]) for c in got["classes"]}, sums)


@case
def files_of_other_people(box):
    for path in real_files("kineto/*.gz"):
        with gzip.open(path) as file:
            events = json.load(file)["traceEvents"]
        names = {e["name"].removeprefix("nn.Module: ") for e in events if e.get("name", "").startswith("nn.Module: ")}
        events = sorted((e for e in events if e["name"] == "[memory]" and e["args"]["Device Type"] == 1), key=lambda e: e["ts"])
        done = box.tare("import", path, "-f", "-o", "trace.tare")
        check_equal(done.code, 0, done)
        if "Total Allocated" in events[0]["args"]:
            most = max(e["args"]["Total Allocated"] for e in events)
            check_says(done.out, f"tensors of up to {most:,} bytes, as its totals say")
            used = events[-1]["args"]["Total Reserved"]
        else:
            now = used = 0
            for event in events:
                now += event["args"]["Bytes"]
                used = max(used, now)
        got = report(box, "--at", "peak")
        check_equal(got["devices"][0]["used_bytes"], used)
        check_equal(got["degraded"], [])
        check_modules_of(box, names)


# What export_memory_timeline() writes: parameters that were there, an activation that becomes a gradient, a temporary one.
RAW = [[-1, 1, 4 * MIB, 0], [1700000000000001000, 2, 2 * MIB, 4], [1700000000000002000, 2, MIB, 3], [1700000000000003000, 4, -MIB, 3],
       [1700000000000004000, 3, -2 * MIB, 4], [1700000000000004000, 3, 2 * MIB, 5], [1700000000000009000, 4, -2 * MIB, 5]]
STEPS = [[1700000000000001, 1700000000000002, 1700000000000003, 1700000000000004, 1700000000000009],
         [[0, 4 * MIB, 0, 0, 0, 2 * MIB, 0, 0, 0], [0, 4 * MIB, 0, 0, MIB, 2 * MIB, 0, 0, 0], [0, 4 * MIB, 0, 0, 0, 2 * MIB, 0, 0, 0],
          [0, 4 * MIB, 0, 0, 0, 0, 2 * MIB, 0, 0], [0, 4 * MIB, 0, 0, 0, 0, 0, 0, 0]]]


@case
def a_memory_timeline_is_a_recording(box):
    for what, name in ((RAW, "m.raw.json"), (RAW, "m.raw.json.gz"), (STEPS, "m.json"), (STEPS, "m.json.gz")):
        check_says(imported(box, what, name), "changes, tensors of up to 7,340,032 bytes")
        for at, used in (("peak", 7 * MIB), ("end", 4 * MIB)):
            check_equal(report(box, "--at", at)["devices"][0]["used_bytes"], used)
        text = box.tare("report", "trace.tare", "--by", "line").out
        check_says(text, "parameter", "activation", "temporary", "which device, lines, addresses")
        check_equal(report(box)["degraded"], [])
    check_says(imported(box, RAW[:1]), "1 change, tensors of up to 4,194,304 bytes")
    check_says(imported(box, [[1, 4, -5, 0], [2, 2, 7, 0]]), "2 changes")
    check_says(" ".join(report(box)["degraded"]), "1 tensors end in it and never began")


@case
def a_broken_timeline_is_an_error_in_a_sentence(box):
    page = b"<html>\n<head><title>GPU Memory Timeline HTML</title></head><body><img src='data:image/png;base64,AAAA'></body></html>"
    whole = json.dumps(STEPS).encode()
    cases = [(page, "is a picture and has no figures"), (b"[[], []]", "no memory of its device"), (b"[[1, 2]", "a list was expected"),
             (b"[[1, 2, 3, 9]]", "an event has"), (b"[[1, 2, 3, 0], [4]]", "an event has"), (b"[[5], [[0, 1]]]", "9 sizes"),
             (b"[[99999999999999999999, 1, 2, 3]]", "byte 2"), (b"[[1, 2, 1e5, 0]]", "byte "), (b"[[1, 1, 99999999999999999, 0]]", "an event has"),
             (whole[:-4], "byte "), (whole.replace(b"4194304", b"-419430"), "a size cannot be that"), (b"[[" + b"[" * 100000, "byte 3")]
    for data, words in cases:
        done = box.tare("import", write(box, data), "--from", "memory_timeline", "-o", "none.tare")
        check_equal(done.code, 125, data[:60], done)
        check_says(done.err, words)
        check_equal(len(done.err.splitlines()), 1, done)
    dice = random.Random(11)
    for _ in range(60):
        data = bytearray(dice.choice((whole, json.dumps(RAW).encode())))
        for _ in range(dice.randrange(1, 9)):
            data[dice.randrange(len(data))] = dice.choice(b"[], -0129\x00\xff")
        done = box.tare("import", write(box, bytes(data)), "--from", "memory_timeline", "-f", "-o", "trace.tare")
        check(done.code in (0, 125), done)
        if not done.code:
            check_equal(box.tare("report", "trace.tare").code, 0)


main()
