#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tare sweep: the grid, the runs, how they end, and what the file says of them."""

import json
import os
import re
import time

from harness import FIXTURES, MIB, ROOT, case, check, check_equal, check_says, main, needs_exec
from sweeps import cell, query, sweep


@case
def every_cell_is_run_and_measured(box):
    needs_exec()
    done = sweep(box, "--grid", "mib=32,64,128", "--grid", "kind=a,b", "--repeat", "2",
                 "--work", "pieces={mib}/16", command=cell("mib={mib}", "print=kind"))
    check_equal(done.out, "")
    rows = query(box, "SELECT mib,kind,repeat,status,peak,need FROM results")
    check_equal([row[:4] for row in rows],
                [(m, k, r, "ok") for m in (32, 64, 128) for k in "ab" for r in (1, 2)])
    for mib, kind, repeat, status, peak, need in rows:
        check_equal(peak - rows[0][4], (mib - 32) * MIB)
        check_equal(need, peak)
    check_equal(query(box, "SELECT amount FROM works ORDER BY cell"), [(2,), (2,), (4,), (4,), (8,), (8,)])
    for cell_number, kind in ((1, "a"), (2, "b")):
        out = query(box, "SELECT stdout FROM runs WHERE cell=? AND repeat=2", cell_number)[0][0]
        with open(box.path("t.db.d", out), encoding="utf-8") as text:
            check_equal(text.read(), "kind=%s\n" % kind)


@case
def what_the_file_says_is_what_the_recording_says(box):
    needs_exec()
    sweep(box, "--grid", "mib=48", command=cell("mib={mib}"))
    recording, peak = query(box, "SELECT recording,peak FROM runs")[0]
    report = box.report(os.path.join("t.db.d", recording), "peak")
    device = report["devices"][0]
    check_equal(query(box, "SELECT uuid,name,total,peak_used,unexplained,simulated FROM devices"),
                [(device["uuid"], device["name"], device["total_bytes"], device["used_bytes"],
                  device["unexplained_bytes"], 1)])
    accounts = query(box, "SELECT account,sum(bytes) FROM accounts GROUP BY account")
    wanted = {}
    for row in device["accounts"]:
        if row["leaf"]:
            wanted[row["account"]] = wanted.get(row["account"], 0) + row["bytes"]
    check_equal(dict(accounts), wanted)
    own, other, unexplained, used = query(box, "SELECT own,other,unexplained,peak_used FROM devices")[0]
    check_equal((own, own + other + unexplained), (peak, used))


@case
def what_others_had_is_not_the_runs(box):
    """When the whole card had most in use, the run had little: somebody else was about to leave."""
    needs_exec()
    program = os.path.join(FIXTURES, "e2e_cell")
    holder = box.start(["sh", "-c", "%s cache=2048 touch=there wait=go; touch left" % program], sim=True)
    while not os.path.exists(box.path("there")):
        check_equal(holder.poll(), None)
        time.sleep(0.002)
    sweep(box, "--grid", "busy=yes,no", command=[
        "sh", "-c", "test {busy} = no && exec %s mib=16 mib=64; exec %s mib=16 touch=go wait=left mib=64"
        % (program, program)])
    holder.communicate()
    accounts = [query(box, "SELECT account,bytes FROM accounts WHERE run=? AND account NOT IN ('driver','other')"
                           " ORDER BY account", run) for run in (1, 2)]
    check_equal(accounts[0], accounts[1])  # the driver itself was there already
    check_equal(dict(accounts[0])["allocations"], 64 * MIB)
    peak, quiet = [row[0] for row in query(box, "SELECT peak_used FROM devices ORDER BY run")]
    check(peak > quiet + 1024 * MIB, peak, quiet)


@case
def phases_and_their_parameters_are_rows(box):
    needs_exec()
    sweep(box, "--grid", "mib=32,64", command=cell("mib=16", "mib={mib}"))
    for run, mib in ((1, 32), (2, 64)):
        check_equal(query(box, "SELECT path,phase_params.name,number FROM phases JOIN phase_params USING(run,phase) "
                               "WHERE run=? ORDER BY phase", run),
                    [("fill mib=16", "mib", 16.0), ("fill mib=%d" % mib, "mib", float(mib))])
        own, need, used = query(box, "SELECT own,need,peak_used FROM phase_devices WHERE run=? AND phase=2", run)[0]
        check_equal((own, need), (used, used))
        check_equal(query(box, "SELECT sum(bytes) FROM phase_accounts WHERE run=? AND phase=2", run), [(own,)])
        check_equal(query(box, "SELECT bytes FROM phase_accounts WHERE run=? AND phase=2 AND account='allocations'",
                          run), [(mib * MIB,)])
    check_equal(query(box, "SELECT max(own) FROM phase_devices WHERE run=2"), query(box, "SELECT peak FROM runs WHERE run=2"))


@case
def out_of_memory_is_told_by_the_ledger(box):
    needs_exec()
    done = sweep(box, "--vram", "1GiB", "--grid", "mib=64,800", "--grid", "cache=0,256",
                 command=["sh", "-c", "test {cache} = 0 && exec %s mib={mib}; exec %s cache={cache} mib={mib}"
                          % ((os.path.join(FIXTURES, "e2e_cell"),) * 2)])
    check_says(done.err, "mib=800 cache=0: oom")
    rows = query(box, "SELECT mib,cache,status,refused,retries FROM results ORDER BY cell")
    # What an allocator gave back and asked for again is a retry, also where it ran out in the end.
    check_equal(rows, [(64, 0, "ok", 0, 0), (64, 256, "ok", 0, 0), (800, 0, "oom", 1, 0), (800, 256, "oom", 2, 1)])
    check_equal(query(box, "SELECT DISTINCT oom,oom_bytes FROM runs WHERE status='oom'"), [("device", 16 * MIB)])
    check_equal(query(box, "SELECT DISTINCT card_total FROM devices"), [(1 << 30,)])


@case
def words_on_stderr_are_no_out_of_memory(box):
    needs_exec()
    sweep(box, "--grid", "code=0,1", command=["sh", "-c", "echo CUDA out of memory >&2; exit {code}"])
    check_equal(query(box, "SELECT status,exit_code,oom FROM runs"), [("ok", 0, None), ("failed", 1, None)])


@case
def a_program_that_lived_with_a_refusal_failed_otherwise(box):
    """It was refused, got its memory later, and then failed for a reason of its own."""
    needs_exec()
    sweep(box, "--vram", "1GiB", "--grid", "cache=256", command=cell("cache={cache}", "mib=400", "exit=7"))
    check_equal(query(box, "SELECT status,exit_code,refused,retries FROM runs"), [("failed", 7, 1, 1)])


@case
def what_hangs_is_ended(box):
    needs_exec()
    done = sweep(box, "--timeout", "300ms", "--grid", "path=never", command=cell("wait={path}"))
    check_says(done.err, "path=never: timeout")
    check_equal(query(box, "SELECT status,exit_code FROM runs"), [("timeout", 143)])


@case
def parameters_are_environment_variables(box):
    needs_exec()
    done = sweep(box, "--grid", "SIZE=32,64", command=cell("env=SIZE"))
    check_says(done.err, "{SIZE} is not in the command", "environment variable")
    small, large = [row[0] for row in query(box, "SELECT peak FROM runs ORDER BY cell")]
    check_equal(large - small, 32 * MIB)
    check_equal(query(box, "SELECT name,is_numeric,in_command FROM params"), [("SIZE", 1, 0)])


@case
def braces_of_other_kinds_are_left_alone(box):
    needs_exec()
    sweep(box, "--grid", "a=7", command=["printf", "%s|", "{a}{a}", "{{a}}", "{", "{}", "{\"k\": {a}}", "${x:-1}", "{{"])
    with open(box.path("t.db.d", "cell-1-run-1", "stdout"), encoding="utf-8") as text:
        check_equal(text.read(), "77|{a}|{|{}|{\"k\": 7}|${x:-1}|{|")


@case
def grids_in_json(box):
    needs_exec()
    with open(box.path("cells.json"), "w", encoding="utf-8") as text:
        json.dump([{"a": 1, "b": "x y"}, {"a": 2.5, "b": ""}], text)
    sweep(box, "--grid-json", "cells.json", "--grid-json", '{"c": [true]}', command=["true", "{a}"])
    check_equal(query(box, "SELECT label FROM cells"), [("a=1 b=x y c=true",), ("a=2.5 b= c=true",)])


@case
def grids_that_are_none(box):
    needs_exec()
    for options, says in (
            (["--grid", "a"], "NAME=VALUE"),
            (["--grid", "a="], "empty"),
            (["--grid", "a=1,,2"], "empty"),
            (["--grid", "a=1,1"], "twice: 1"),
            (["--grid", "a=1", "--grid", "a=2"], "already: a"),
            (["--grid", "1a=2"], "letters"),
            (["--grid", "PATH=2"], "PATH"),
            (["--grid-json", "[]"], "list of cells"),
            (["--grid-json", "{}"], "not empty"),
            (["--grid-json", '{"a": []}'], "not empty: a"),
            (["--grid-json", '[{"a": 1}, {"b": 1}]'], "not every cell"),
            (["--grid-json", '[{"a": 1}, {"a": 1}]'], "twice"),
            (["--grid-json", '{"a": [1'], "--grid-json"),
            (["--grid-json", "nowhere.json"], "nowhere.json"),
            (["--grid", "a=" + ",".join(map(str, range(400))), "--grid", "b=" + ",".join(map(str, range(400)))],
             "100000 cells"),
            ([], "--grid"),
            (["--grid", "a=1,x", "--work", "{a}"], "a is x"),
            (["--grid", "a=0", "--work", "{a}"], "more than 0"),
            (["--grid", "a=1", "--work", "{b}"], "no parameter is called b"),
            (["--grid", "a=1", "--work", "1+"], "too early"),
            (["--grid", "a=1", "--total", "5"], "--work"),
            (["--grid", "a=1", "--repeat", "-1"], "--repeat"),
            (["--grid", "a=1", "--repeat", "0"], "--repeat"),
            (["--grid", "a=1", "--jobs", "0"], "--jobs"),
            (["--grid", "a=1", "--timeout", "0"], "--timeout"),
    ):
        done = sweep(box, *options, command=["true", "{{x}}"], code=2, db="bad.db")
        check_says(done.err, says)
        check(not os.path.exists(box.path("bad.db")), "left behind by", options)
    check_says(sweep(box, "--grid", "a=1", command=["true", "{b}"], code=2).err, "no parameter is called b", "{{b}}")
    check_says(sweep(box, "--grid", "a=1", command=["no-such-program"], code=127).err, "no-such-program")
    check_says(sweep(box, "--grid", "a=1", code=2).err, "no command")


@case
def a_file_that_is_there_is_not_touched(box):
    needs_exec()
    with open(box.path("t.db"), "w", encoding="utf-8") as text:
        text.write("mine")
    check_says(sweep(box, "--grid", "a=1", command=["true"], code=125).err, "is there already")
    check_says(sweep(box, "--resume", code=125).err, "is no database")
    check_says(sweep(box, "--resume", db="none.db", code=125).err, "there is no such file")


@case
def a_mistake_in_the_recorders_options_stops_the_sweep(box):
    needs_exec()
    done = sweep(box, "--vram", "much", "--grid", "a=1,2,3", command=["true"], code=125)
    check_says(done.err, "much")
    check_equal(query(box, "SELECT cell,status FROM runs"), [(1, "interrupted")])
    # What the program itself exits with is its own business.
    sweep(box, "--grid", "code=2,125,127", command=["sh", "-c", "exit {code}"], db="own.db")
    check_equal(query(box, "SELECT status,exit_code FROM runs", db="own.db"), [("failed", 2), ("failed", 125), ("failed", 127)])


@case
def the_schema_is_the_one_of_the_docs(box):
    needs_exec()
    sweep(box, "--grid", "a=1", command=["true"])
    with open(os.path.join(ROOT, "docs", "SWEEP.md"), encoding="utf-8") as text:
        docs = text.read()
    tables = dict(re.findall(r"^\| `(\w+)` \| .*? \| (.*) \|$", docs, re.M))
    runs = re.search(r"^`runs`: (.*?)\n\n", docs, re.M | re.S).group(1)
    for name, kind in query(box, "SELECT name,type FROM sqlite_master WHERE type IN ('table','view')"):
        columns = [row[1] for row in query(box, "PRAGMA table_info(%s)" % name)]
        if kind == "view":
            check("`%s`" % name in docs, name)
            continue
        check(name in tables, "not in the docs:", name)
        said = re.findall(r"`(\w+)`", runs if name == "runs" else tables[name])
        if name == "sweep":
            said = [word for word in said if word in ("key", "value")]
        for column in columns:
            check(column in said, "%s.%s is not in the docs" % (name, column))
    check_equal(query(box, "PRAGMA application_id") + query(box, "PRAGMA user_version"), [(0x54415245,), (1,)])


main()
