#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tare sweep --resume: what was done stays done, whatever stopped it."""

import os
import pty
import random
import shlex
import signal
import sqlite3

from harness import case, check, check_equal, check_says, main, needs_exec, on_small_disk, wait_until
from sweeps import cell, query, sweep, sweep_argv, table

GRID = ["--grid", "mib=16,32,64,96,800", "--grid", "kind=a,b", "--repeat", "2", "--vram", "1GiB"]


def lines_of(path):
    try:
        with open(path, encoding="utf-8") as text:
            return len(text.readlines())
    except FileNotFoundError:
        return 0


@case
def killed_ten_times_it_gives_the_same_table(box):
    """The order of kills is random, but each comes after a run that is known to have begun."""
    needs_exec()
    seed = random.randrange(1 << 30)
    draw = random.Random(seed)
    command = cell("touch=" + box.path("log"), "mib={mib}")
    sweep(box, *GRID, db="whole.db", command=command)
    whole = table(box, "whole.db")
    os.unlink(box.path("log"))
    running = box.start(sweep_argv(*GRID, command=command))
    for _ in range(10):
        begun = lines_of(box.path("log")) + draw.randrange(1, 3)
        wait_until(lambda: lines_of(box.path("log")) >= begun or running.poll() is not None, "no run begins")
        running.send_signal(draw.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT]))
        running.communicate(timeout=60)
        done = [row for row in query(box, "SELECT cell,repeat FROM runs WHERE status NOT IN ('running','interrupted')")]
        running = box.start(sweep_argv("--resume"))
    running.communicate(timeout=120)
    check_equal(running.returncode, 0, "seed %d" % seed)
    check_equal(table(box), whole, "seed %d" % seed)
    # Each was run once, but for those that were running when it was stopped.
    check(lines_of(box.path("log")) <= len(whole) + 10, "runs were repeated", "seed %d" % seed)
    check(len(done) <= len(whole))


@case
def a_run_that_outlived_its_sweep_is_ended_first(box):
    needs_exec()
    command = cell("stubborn=1", "touch=" + box.path("log"), "wait={path}")
    running = box.start(sweep_argv("--grid", "path=" + box.path("go"), command=command))
    wait_until(lambda: lines_of(box.path("log")) == 1, "no run begins")
    running.kill()
    running.communicate(timeout=60)
    with open(box.path("log"), encoding="utf-8") as text:
        pid = int(text.read())
    os.kill(pid, signal.SIGSTOP)  # it ignores the SIGTERM that it got, and is not to end by itself
    with open(box.path("go"), "w", encoding="utf-8"):
        pass
    sweep(box, "--resume", env={"TARE_TEST_GRACE_MS": "50"})
    wait_until(lambda: not os.path.exists("/proc/%d" % pid), "it still runs")
    check_equal(query(box, "SELECT status FROM runs"), [("ok",)])
    check_equal(lines_of(box.path("log")), 2)


@case
def an_interrupt_ends_the_runs_and_says_how_to_go_on(box):
    needs_exec()
    running = box.start(sweep_argv("--grid", "path=never", command=cell("touch=" + box.path("log"), "wait={path}")))
    wait_until(lambda: lines_of(box.path("log")) == 1, "no run begins")
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)
    check_equal(running.returncode, 130)
    check_says(err.decode(), "tare sweep --resume -o t.db")
    check_equal(query(box, "SELECT status FROM runs"), [("interrupted",)])
    with open(box.path("log"), encoding="utf-8") as text:
        pid = int(text.read())
    wait_until(lambda: not os.path.exists("/proc/%d" % pid), "it still runs")


@case
def new_values_add_cells(box):
    needs_exec()
    command = cell("touch=" + box.path("log"), "mib={mib}")
    sweep(box, "--grid", "mib=16,32", command=command)
    sweep(box, "--resume", "--grid", "mib=16,64", "--repeat", "2", command=command)
    check_equal(query(box, "SELECT mib,repeat,status FROM results"),
                [(m, r, "ok") for m in (16, 32, 64) for r in (1, 2)])
    check_equal(lines_of(box.path("log")), 6)
    done = sweep(box, "--resume")
    check_says(done.err, "6 of 6 runs done")
    check_equal(lines_of(box.path("log")), 6)


@case
def what_contradicts_the_file_is_refused(box):
    needs_exec()
    sweep(box, "--grid", "a=1", command=["true", "{a}"])
    before = query(box, "SELECT * FROM sweep")
    for options, command, says in (
            (["--grid", "a=1"], ["true", "x", "{a}"], "another command"),
            (["--grid", "a=1", "--grid", "b=1"], ["true", "{a}"], "other parameters"),
            (["--grid", "a=1", "--work", "{a}"], ["true", "{a}"], "another --work"),
            (["--grid", "a=1", "--vram", "1GiB"], ["true", "{a}"], "other options"),
            (["--grid", "a=1"], [], "needs the command"),
            ([], ["true", "{a}"], "needs its grid")):
        check_says(sweep(box, "--resume", *options, command=command, code=2).err, says)
    check_equal(query(box, "SELECT * FROM sweep"), before)


@case
def files_that_cannot_be_used(box):
    needs_exec()
    sweep(box, "--grid", "a=1", command=["true"])
    with sqlite3.connect(box.path("t.db")) as connection:
        connection.execute("PRAGMA user_version=99")
    check_says(sweep(box, "--resume", code=125).err, "t.db", "newer Tare", "99")
    with sqlite3.connect(box.path("t.db")) as connection:
        connection.execute("PRAGMA user_version=1")
    locked = sqlite3.connect(box.path("t.db"))
    locked.execute("BEGIN EXCLUSIVE")
    check_says(sweep(box, "--resume", code=125, env={"TARE_TEST_DB_BUSY_MS": "50"}).err, "t.db", "locked")
    locked.close()
    with sqlite3.connect(box.path("other.db")) as connection:
        connection.execute("CREATE TABLE mine(a)")
    check_says(sweep(box, "--resume", db="other.db", code=125).err, "not one of tare sweep")


@case
def a_full_disk_is_one_sentence_and_loses_nothing(box):
    """Padding takes what the disk has; when it is gone the sweep goes on with what it had not done."""
    needs_exec()
    first = shlex.join(sweep_argv("--grid", "mib=16,32,64", db="disk/t.db", command=cell("mib={mib}")))
    again = shlex.join(sweep_argv("--resume", db="disk/t.db"))
    # Runs 1 and 2 are done, then the third finds no room.
    fill = "head -c 100m /dev/zero >disk/pad 2>/dev/null; true"
    script = ("%s || exit 1; sqlite='import sqlite3; c = sqlite3.connect(\"disk/t.db\"); c.execute(\"DELETE FROM runs WHERE cell=3\"); c.commit()'; "
              "python3 -c \"$sqlite\" || exit 78; %s; %s; echo code $?; rm disk/pad; %s; echo code $?; cp disk/t.db ."
              % (first, fill, again, again))
    done = on_small_disk(box, "24m", script, timeout=100)
    check_equal(done.out, "code 125\ncode 0\n", done)
    check_says(done.err, "space")
    check_equal(query(box, "SELECT cell,status FROM runs ORDER BY cell"), [(1, "ok"), (2, "ok"), (3, "ok")])


@case
def on_a_terminal_there_is_a_line_that_changes(box):
    needs_exec()
    leader, follower = pty.openpty()
    running = box.start(sweep_argv("--grid", "path=" + box.path("go"), command=cell("wait={path}")),
                        env={"TERM": "xterm", "LANG": "C.UTF-8"}, stderr=follower)
    os.close(follower)
    seen = b""
    while b"0 of 1 done, 1 running" not in seen:
        seen += os.read(leader, 4096)
    with open(box.path("go"), "w", encoding="utf-8"):
        pass
    running.communicate(timeout=60)
    try:
        while True:
            part = os.read(leader, 4096)
            if not part:
                break
            seen += part
    except OSError:
        pass
    os.close(leader)
    check_equal(running.returncode, 0)
    check_says(seen.decode(), "\r\033[K", "[1/1] path=")


@case
def two_sweeps_do_not_share_a_file(box):
    needs_exec()
    running = box.start(sweep_argv("--grid", "path=" + box.path("go"),
                                   command=cell("touch=" + box.path("log"), "wait={path}")))
    wait_until(lambda: lines_of(box.path("log")) == 1, "no run begins")
    check_says(sweep(box, "--resume", code=125).err, "another tare sweep")
    with open(box.path("go"), "w", encoding="utf-8"):
        pass
    running.communicate(timeout=60)
    check_equal(running.returncode, 0)
    check_equal(query(box, "SELECT status FROM runs"), [("ok",)])


main()
