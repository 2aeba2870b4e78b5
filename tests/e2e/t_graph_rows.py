#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Captures and graphs in bad worlds: every call fails once, old drivers, kills, the cap."""

import json
import os

from harness import (BUILD, MIB, WRAPPER, case, check, check_equal, fixture, leaves, main, needs_own_command, row_of,
                     show, unexplained)

FIXTURE = "e2e_stubborn_graphs"


def graphs(box, rec):
    done = box.tare("report", rec, "--by", "graph", "--at", "end", "--json")
    check_equal(done.code, 0, done)
    return json.loads(done.out)


def by_owner(box, rec):
    return json.loads(box.tare("report", rec, "--by", "owner", "--at", "peak", "--json").out)["rows"]


def scripted(box, script, rec):
    return box.record(fixture(FIXTURE), rec=rec, env={"TARE_SIM_SCRIPT": script})


def calls_of(result):
    """(call, how often it was made before), in order."""
    seen, out = {}, []
    for line in result.out.splitlines()[:-1]:
        name = line.split("\t")[0]
        seen[name] = seen.get(name, 0) + 1
        out.append((name, seen[name]))
    return out


@case
def every_call_of_the_program_fails_once(box):
    """The program sees the same as alone, nothing is unexplained, and the rows can be had."""
    alone = box.run(fixture(FIXTURE), sim=True)
    check_equal(alone.code, 0, alone)
    calls = calls_of(alone)
    check(len(calls) > 50, alone)
    for number, (name, nth) in enumerate(calls[::7 if WRAPPER else 1]):
        script = "fail %s %d 999" % (name, nth)
        rec = "rec%d.tare" % number
        done = scripted(box, script, rec)
        alone = box.run(fixture(FIXTURE), sim=True, env={"TARE_SIM_SCRIPT": script})
        check_equal(done.out, alone.out, script)
        check(("%s\t999" % name) in done.out, script, done)
        for device in box.report(rec)["devices"]:
            check_equal(device["unexplained_bytes"] or 0, 0, script)
        graphs(box, rec)


@case
def every_call_of_the_recorder_fails_once(box):
    """What it asks of the driver fails too: it knows less, and the program goes on to its end."""
    unknown = 0
    for nth in range(1, 150, 20 if WRAPPER else 1):
        rec = "rec%d.tare" % nth
        done = scripted(box, "fail-any %d 999" % nth, rec)
        check_equal(done.out.splitlines()[-1], "end", done)
        box.report(rec)
        if "999" not in done.out:
            unknown += any(row["nodes"] is None for row in graphs(box, rec)["rows"]
                           if row["execs"] and row["state"] != "invalid")
    check(WRAPPER or unknown > 0, "no failure hit the counting of nodes")


@case
def drivers_without_the_younger_functions(box):
    for version in (10000, 10010, 11000, 11030, 12000):
        script = "driver-version %d" % version
        rec = "rec%d.tare" % version
        done = scripted(box, script, rec)
        alone = box.run(fixture(FIXTURE), sim=True, env={"TARE_SIM_SCRIPT": script})
        check_equal(done.out, alone.out, script)
        check_equal(unexplained(box.report(rec)), 0, script)


@case
def launches_of_a_killed_program_are_not_known(box):
    done = box.record(fixture("e2e_captures", "kill"), exit_code=137)
    rows = graphs(box, "rec.tare")["rows"]
    check_equal([row["launches"] for row in rows[:2]], [None, None], done)
    check_equal([row["nodes"] for row in rows[:2]], [2, 2], done)


@case
def a_recording_without_its_events_has_the_same_graphs(box):
    box.record(fixture("e2e_captures", "few", "70"), rec="whole.tare")
    whole = graphs(box, "whole.tare")
    check_equal(unexplained(box.report("whole.tare")), 0)
    box.drop_events("whole.tare")
    folded = graphs(box, "whole.tare")
    for key in ("number", "state", "exec_bytes", "allocated_bytes", "held_bytes", "nodes",
                "kernel_nodes", "used_after_bytes", "execs", "execs_alive", "launches", "stream",
                "source", "owner", "owner_bytes"):
        check_equal([row[key] for row in folded["rows"]], [row[key] for row in whole["rows"]], key)
    check_equal(folded["savings"], whole["savings"])
    check_equal(unexplained(box.report("whole.tare")), 0)


@case
def captures_that_share_an_exec_are_one_group(box):
    """libtare_graphs keeps one executable graph for captures that are alike: the report says whose."""
    program = WRAPPER + [os.path.join(BUILD, "examples", "graphs")]
    box.record(program, rec="whole.tare")
    box.record(program, rec="folded.tare")
    box.drop_events("folded.tare")
    for rec in ("whole.tare", "folded.tare"):
        rows = graphs(box, rec)["rows"]
        check_equal([row["in_exec_of"] for row in rows], [None] + [1] * 63, rec)
        check_equal(sum(row["execs"] for row in rows), 1, rec)
    out = box.tare("report", "whole.tare", "--by", "graph").out
    check("in the exec of 1, graphs.c:" in out, out)
    arena = [row["bytes"] for row in by_owner(box, "whole.tare") if row["label"] == "arena of CUDA graphs"]
    check_equal(arena, [8 * MIB])


@case
def a_program_without_graphs_says_so(box):
    needs_own_command()
    box.record(fixture("e2e_alloc"))
    done = box.tare("report", "rec.tare", "--by", "graph")
    check_equal((done.code, done.out),
                (0, "graphs captured: 0\nOf a simulated GPU: nothing of this was measured.\n"), done)
    check("graphs captured" not in box.tare("report", "rec.tare").out, "it says nothing")
    check_equal(graphs(box, "rec.tare")["graphs_captured"], 0)


@case
def memory_of_allocation_nodes_is_told_apart(box):
    box.record(fixture("e2e_graphs"))
    report = box.report(at="peak")
    check_equal(row_of(report, "/graphs/memory"), 256 * MIB, show(report))
    check_equal({row["path"].split("/")[-1] for row in leaves(report["devices"][0])
                 if "/graphs/" in row["path"]}, {"execs", "memory"}, show(report))


main()
