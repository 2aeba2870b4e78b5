#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A recording that outgrows its cap: the oldest events go, and the ledger stays what it was."""

import json
import os
import shutil
import signal
import struct
import subprocess
import time

from harness import MIB, WRAPPER, Skip, case, check, check_equal, check_says, fixture, main, needs_exec, record_args, tare_argv

# An early peak whose events go, then many records, then something that stays alive.
STORMS = 400
CAP = MIB
WAIT_S = 60  # what makes room has a low priority: beside other tests it waits for a processor
GONE_S = 10.5 # tare is believed to be gone
BURST = 110 << 10 # more than what is recorded at once below


def sizes(folder):
    """What a folder has, by blocks and by apparent size; files may go meanwhile."""
    blocks = apparent = 0
    for name in os.listdir(folder):
        try:
            st = os.stat(os.path.join(folder, name))
        except FileNotFoundError:
            continue
        blocks += 512 * st.st_blocks
        apparent += st.st_size
    return max(blocks, apparent)


def room(folder):
    """What may still be written into logs: log_limit - log_written of the page `control`."""
    try:
        with open(os.path.join(folder, "control"), "rb") as file:
            written, limit = struct.unpack_from("QQ", file.read(4096), 88)
    except FileNotFoundError:
        return BURST
    return limit - written


def record(box, rec, *options):
    """
    With a cap it takes a few seconds, as programs do that outgrow one, and waits where there is little room for logs until it was
    made: a program that does not has records given up. Returns the most that the folder had.
    """
    if WRAPPER:
        raise Skip("an emulated program takes minutes to outgrow a cap")
    needs_exec()
    running = box.start(tare_argv(*record_args(fixture("e2e_steps"), rec=rec, options=list(options))), sim=True,
                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    most = 0

    def tell(text, answers):
        running.stdin.write(text)
        running.stdin.flush()
        for _ in range(answers):
            running.stdout.readline()

    tell(b"alloc 900000000\nfree\n", 3)
    for _ in range(STORMS):
        tell(b"storm 20\nevents 200\n", 230)
        begin = time.monotonic()
        while options and (time.monotonic() < begin + 0.02 or (room(box.path(rec)) < BURST and time.monotonic() < begin + WAIT_S)):
            most = max(most, sizes(box.path(rec)) if os.path.isdir(box.path(rec)) else 0)
            time.sleep(0.01)
        check(time.monotonic() < begin + WAIT_S, "no room was made in %d s" % WAIT_S)
    tell(b"alloc 5000000\nquit\n", 1)
    running.stdin.close()
    check_equal(running.wait(), 0)
    return max(most, sizes(box.path(rec)))


def manifest(box, rec):
    with open(box.path(rec, "segments.json")) as file:
        return json.load(file)


def rows(report):
    """What the ledger says, without what differs from run to run: pids and times."""
    device = report["devices"][0]
    found = {"used": device["used_bytes"], "unexplained": device["unexplained_bytes"]}
    for account in device["accounts"]:
        path = account["path"].split("/", 1)
        found[path[1] if len(path) > 1 else path[0].split(":")[0]] = (account["bytes"], account["count"])
    return found


@case
def a_cap_that_nothing_fits_under_is_refused(box):
    for cap in ("64KiB", "1048575", "1"):
        done = box.tare(*record_args(["/bin/true"], sim=None, options=("--cap", cap)))
        check_equal(done.code, 2, done)
        check_says(done.err, "--cap", "records would be lost", "--cap 1MiB")
        check(not os.path.exists(box.path("rec.tare")), "a recording was begun", done)


@case
def the_cap_is_kept_and_the_ledger_is_what_it_was(box):
    record(box, "whole.tare")
    most = record(box, "capped.tare", "--cap", str(CAP))
    check(most <= CAP, "the folder had %d bytes" % most)
    dropped = manifest(box, "capped.tare").get("dropped")
    check(dropped and dropped["events"] > 1000, dropped)
    for at in ("peak", "end"):
        check_equal(rows(box.report("capped.tare", at)), rows(box.report("whole.tare", at)), at)
    check_equal(box.report("capped.tare", "end")["degraded"], [])
    done = box.tare("report", "capped.tare", "--at", "1us")
    check_equal(done.code, 0, done)
    check_says(" ".join(done.out.split()), "1us is not known exactly", "under its cap")
    for args in (["--json"], ["--by", "stack"], ["--by", "phase"], ["--svg", "-"], ["--at", "%dms" % (dropped["until_ns"] // 10**6 + 20)]):
        check_equal(box.tare("report", "capped.tare", *args).code, 0, args)
    check_equal(box.tare("dump", "capped.tare").code, 0)
    # Of functions whose events went, too.
    check_says(box.tare("report", "capped.tare", "--at", "end", "--by", "stack").out, "fixture_context", "storm")
    before = box.tare("report", "capped.tare", "--json").out
    check_equal(box.tare("compact", "capped.tare").code, 0)
    check_equal(box.tare("report", "capped.tare", "--json").out, before)
    box.record(fixture("e2e_idle"), rec="capped.tare", options=["-f"])


@case
def a_program_that_records_faster_than_it_can_be_compacted_passes_no_cap(box):
    """What is written is allowed before: then the program waits for room, or records are given up, which is told; the rest is right."""
    if WRAPPER:
        raise Skip("an emulated program takes minutes to outgrow a cap")
    needs_exec()
    running = box.start(tare_argv(*record_args(fixture("e2e_steps"), options=["--cap", str(CAP)])), sim=True,
                        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    running.stdin.write(b"alloc 900000000\n" + b"events 20000\n" * 10 + b"free\nquit\n")
    running.stdin.close()
    most = 0
    while running.poll() is None:
        most = max(most, sizes(box.path("rec.tare")) if os.path.isdir(box.path("rec.tare")) else 0)
        time.sleep(0.002)
    said = running.stderr.read().decode()
    check_equal(running.returncode, 0, said)
    check(most <= CAP, "the folder had %d bytes" % most)
    report = box.report("rec.tare", "end")
    if "records are missing" in said: # where processors are idle, the program waits, and none is
        check_says(said, "has a cap")
        check_says(" ".join(report["degraded"]), "given up", "has a cap")
    else:
        check_equal(report["degraded"], [])
        left = len([event for event in box.events() if event["api"].startswith("cuEvent")])
        gone = manifest(box, "rec.tare").get("dropped", {}).get("events", 0)
        check(left + gone >= 400000, "%d events left, %d dropped" % (left, gone))
    check_equal(report["devices"][0]["unexplained_bytes"], 0, report)


@case
def where_tare_was_killed_records_count_for_more_than_the_cap(box):
    """Nobody makes room any more."""
    needs_exec()
    running = box.start(tare_argv(*record_args(fixture("e2e_steps"), options=["--cap", str(CAP)])), sim=True,
                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    check_equal(running.stdout.readline(), b"ready\n")
    running.kill()
    time.sleep(GONE_S)
    running.stdin.write(b"alloc 5000000\nevents 20000\nquit\n")
    running.stdin.close()
    check_equal(running.stdout.read().count(b"t\n"), 20000)
    check(sizes(box.path("rec.tare")) > 4 * CAP, sizes(box.path("rec.tare")))
    check("given up" not in " ".join(box.report("rec.tare", "end")["degraded"]), box.report("rec.tare", "end"))
    check_equal(len([event for event in box.events() if event["api"].startswith("cuEvent")]), 40000)


def make_states(box, rec, cap_of):
    """Of a program that goes on: now and then a state, and no event is dropped."""
    running = box.start(tare_argv(*record_args(fixture("e2e_steps"), rec=rec)), sim=True, stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE)
    for i in range(14):
        running.stdin.write(b"alloc %d\nstorm %d\n%sevents 4000\nthreads 4\nalloc 4096\n" %
                            ((i % 5 + 1) * 10**7, 4 + i, b"free\n" if i % 3 else b""))
        running.stdin.flush()
        while running.stdout.readline() != b"took\t4096\n":
            pass
        time.sleep(0.5)
        done = box.tare("compact", "--running", "--cap", str(cap_of(sizes(box.path(rec)))), rec)
        check_equal(done.code, 0, done)
    running.stdin.close()
    check_equal(running.wait(), 0)
    check_equal(box.tare("compact", rec).code, 0)
    return [state["until_ns"] for state in manifest(box, rec)["states"]]


@case
def driver_time_is_that_of_all_calls(box):
    """Also of those whose events went: as the stamps of each call's begin and end add up."""
    box.record(fixture("e2e_steps"), input=b"alloc 9000000\nstorm 20\nfree\nthreads 3\nalloc 4096\nquit\n")
    calls, ticks = {}, 0
    for event in box.events():
        if event.get("effect") != "undo":
            calls[event["api"]] = calls.get(event["api"], 0) + 1
            ticks += event["ticks"]
    clocks = [r for r in box.records() if r.get("kind") == "clock"]
    total = ticks * (clocks[-1]["monotonic_ns"] - clocks[0]["monotonic_ns"]) / (clocks[-1]["ticks"] - clocks[0]["ticks"])
    report = ("report", "rec.tare", "--cost", "time", "--json")
    whole = box.tare(*report).out
    rows_of = json.loads(whole)["rows"]
    check(abs(sum(row["driver_ns"] for row in rows_of) - total) < total / 50, total, rows_of)
    check_equal({api: sum(row["calls"] for row in rows_of if row["call"] == api) for api in calls}, calls)
    check_equal(box.tare("compact", "rec.tare").code, 0)
    check_equal(box.tare(*report).out, whole)
    box.drop_events()
    check_equal(box.events(), [])
    check_equal(box.tare(*report).out, whole)
    for name in os.listdir(box.path("rec.tare")):
        if name.endswith(".state"):
            os.truncate(box.path("rec.tare", name), 100)
    less = json.loads(box.tare(*report).out)
    check_equal(less["rows"], [])
    check_says(" ".join(less["degraded"]), "not counted here")


def record_job(box, commands):
    """Two ranks of one job, one after the other: job/0.tare and job/1.tare."""
    os.mkdir(box.path("job"))
    for rank in "01":
        told = ["RANK=" + rank, "WORLD_SIZE=2", "LOCAL_RANK=" + rank, "MASTER_ADDR=here", "MASTER_PORT=29500",
                "TORCHELASTIC_RUN_ID=job7"]
        box.record(["/usr/bin/env"] + told + fixture("e2e_steps"), rec="job/%s.tare" % rank, input=commands)


@case
def driver_time_of_several_recordings_is_that_of_all_calls(box):
    record_job(box, b"alloc 9000000\nstorm 20\nthreads 3\nquit\n")
    report = ("report", "job", "--cost", "time", "--json")
    whole = json.loads(box.tare(*report).out)
    check_equal([row["calls"] for row in whole["rows"] if row["call"] == "cuInit"], [2])
    for rank in "01":
        box.drop_events("job/%s.tare" % rank)
        less = json.loads(box.tare(*report).out)
        check_equal(less["degraded"], [], rank)
        # Of what is left of a recording the rate of its clock is known a little otherwise.
        for row, was in zip(less["rows"], whole["rows"]):
            for key, slack in (("driver_ns", 2 * was["calls"]), ("longest_ns", 2)):
                check(abs(row[key] - was[key]) <= slack + was[key] / 1000, key, row, was)
        check_equal([(row["account"], row["call"], row["calls"]) for row in less["rows"]],
                    [(row["account"], row["call"], row["calls"]) for row in whole["rows"]], rank)


@case
def of_several_recordings_those_that_dropped_events_are_named(box):
    record_job(box, b"alloc 9000000\nstorm 20\nquit\n")
    whole = box.report("job/1.tare")
    box.drop_events("job/1.tare")
    dropped = manifest(box, "job/1.tare")["dropped"]["until_ns"]
    alone = [box.tare("report", "job/%s.tare" % rank, "--at", "end").out for rank in "01"]
    each = box.tare("report", "job", "--at", "end")
    check_equal(each.code, 0, each)
    check_says(" ".join(each.err.split()), "job/1.tare (before", "each recording is reported alone")
    check_equal(each.out, "\n".join("job/%s.tare (%d of 2)\n\n%s" % (rank, int(rank) + 1, alone[int(rank)]) for rank in "01"))
    pid = whole["host"][0]["pid"]
    check_equal(box.tare("report", "job", "--at", "end", "--pid", str(pid)).out.count(" of 2)\n"), 1)
    for form in (["--json"], ["--csv"], ["--html", "page.html"], ["--svg", "picture.svg"]):
        refused = box.tare("report", "job", *form)
        check_equal(refused.code, 125, refused)
        check_says(" ".join(refused.err.split()), "job/1.tare (before", "alone")
        check_equal(refused.out, "")
    said = json.loads(box.tare("report", "job", "--by", "rank", "--json").out)["degraded"]
    named = [text for text in said if "read each recording alone" in text]
    check_equal(len(named), 1)
    check("job/1.tare (before" in named[0] and "job/0.tare" not in named[0], named)
    # The second began when the first was over, which is no time of the first alone.
    refused = box.tare("report", "job", "--by", "rank", "--at", "%dns" % (dropped + 1000))
    check_equal(refused.code, 125, refused)
    check_says(refused.err, "read each alone")
    check_equal(rows(box.report("job/1.tare")), rows(whole))


def no_segments_json_says_the_same(box, rec, t):
    """Where it is damaged or gone, the other files tell what it said."""
    views = (["--json"], ["--at", "%dns" % t, "--json"], ["--cost", "time"], ["--svg", "-"])
    before = [box.tare("report", rec, *view).out for view in views]
    path = box.path(rec, "segments.json")
    os.rename(path, box.path("segments.json"))
    check_equal([box.tare("report", rec, *view).out for view in views], before)
    with open(path, "w") as file:
        file.write("{")
    check_equal([box.tare("report", rec, *view).out for view in views], before)
    os.rename(box.path("segments.json"), path)


@case
def of_moments_whose_events_went_what_is_known_is_told(box):
    needs_exec()
    states = make_states(box, "whole.tare", lambda size: size * 5 // 4)
    check(len(states) >= 4, states)
    shutil.copytree(box.path("whole.tare"), box.path("less.tare"))
    done = box.tare("compact", "--cap", str(sizes(box.path("less.tare")) * 2 // 3), "less.tare")
    check_equal(done.code, 0, done)
    now = manifest(box, "less.tare")
    dropped, kept = now["dropped"]["until_ns"], [state["until_ns"] for state in now["kept"]]
    check(kept and dropped > states[1], now)
    for t in kept:
        was, is_ = [box.tare("report", rec, "--at", "%dns" % t, "--json") for rec in ("whole.tare", "less.tare")]
        check_equal(is_.code, 0, is_)
        check_equal(is_.out, was.out.replace("whole.tare", "less.tare"), t)
        was, is_ = [box.tare("report", rec, "--at", "%dns" % t, "--cost", "time", "--json") for rec in ("whole.tare", "less.tare")]
        check_equal(is_.out, was.out, t)
    check_equal(box.tare("report", "less.tare", "--cost", "time").out, box.tare("report", "whole.tare", "--cost", "time").out)
    for i in range(40):
        t = dropped * i // 40
        used = box.report("whole.tare", "%dns" % t)["devices"][0]["used_bytes"]
        done = box.tare("report", "less.tare", "--at", "%dns" % t, "--json")
        check_equal(done.code, 0, done)
        said = json.loads(done.out)
        if t in kept:
            continue
        check_equal((said["is_exact"], said["at"]["t_ns"], said["dropped_until_ns"]), (False, t, dropped))
        check(said["in_use"][0]["low_bytes"] <= used <= said["in_use"][0]["high_bytes"], t, used, said)
        check([exact for exact in said["exact"] if exact["t_ns"] in kept], said)
    done = box.tare("report", "less.tare", "--at", "%dns" % (dropped // 2))
    check_says(done.out, "to keep the recording under its cap", "LEAST IN USE", "Known exactly near it")
    done = box.tare("report", "less.tare", "--at", "%dns" % (dropped // 2), "--at", "end")
    check_equal(done.code, 125, done)
    check_says(done.err, "under its cap", "for this moment alone")
    check("class=\"band\"" not in box.tare("report", "less.tare", "--svg", "-").out, "a state has all of it")
    no_segments_json_says_the_same(box, "less.tare", dropped // 2)
    for name in os.listdir(box.path("less.tare")):
        if name.endswith(".state"):
            os.truncate(box.path("less.tare", name), 100)
    done = box.tare("report", "less.tare", "--svg", "-")
    check_equal(done.code, 0, done)
    check_says(done.out, "class=\"band\"", "to keep the recording under its cap")


@case
def the_cap_is_used_before_a_record_is_lost(box):
    """Logs have no more than 160 MiB, so that they can be read soon, unless records would be lost."""
    if WRAPPER:
        raise Skip("an emulated program takes minutes to record so much")
    needs_exec()
    program = ["/bin/sh", "-c", 'echo ready; read go; "$@" >&2; echo done; read end; exit 0', "sh", *fixture("e2e_heap"), "random", "3600000", "5"]
    running = box.start(tare_argv(*record_args(program, sim=None, options=("--host=full",))), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    check_equal(running.stdout.readline(), b"ready\n")
    os.kill(running.pid, signal.SIGSTOP)  # nobody makes room
    try:
        running.stdin.write(b"go\n")
        running.stdin.flush()
        check_equal(running.stdout.readline(), b"done\n")
        check(sizes(box.path("rec.tare")) > 180 * MIB, sizes(box.path("rec.tare")))
    finally:
        os.kill(running.pid, signal.SIGCONT)
    running.stdin.close()
    check_equal(running.wait(), 0)
    lost = [process["lost"] for process in json.loads(box.tare("info", "rec.tare", "--json").out)["processes"]]
    check_equal(sum(lost), 0, lost)


main()
