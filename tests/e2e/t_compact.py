#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tare compact: a recording in segments reads as it did before, wherever compacting was interrupted."""

import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import time

from harness import (BUILD, PYTHON, case, check, check_equal, check_says, fixture, main, needs_exec, needs_torch,
                     on_small_disk, record_args, tare_argv, wait_until)

VIEWS = ([], ["--json"], ["--at", "end", "--csv"], ["--by", "stack"], ["--by", "phase", "--json"],
         ["--by", "graph"], ["--by", "pool"], ["--by", "category", "--json"], ["--by", "process"],
         ["--svg", "-", "--by", "account"], ["--cost", "time", "--json"])


def views(box, rec="rec.tare"):
    """What every kind of report says of it."""
    said = [(view, box.tare("report", rec, *view)) for view in VIEWS]
    for view, done in said:
        check_equal(done.code, 0, view, done)
    return [(view, done.out, done.err) for view, done in said]


def dumped(box, rec="rec.tare"):
    """Its records, in any order: what follows # and ! is about files."""
    done = box.tare("dump", rec)
    check_equal(done.code, 0, done)
    return sorted(done.out.splitlines())


def names(box, rec="rec.tare"):
    return sorted(os.listdir(box.path(rec)))


def check_compacts(box, rec="rec.tare"):
    before, records = views(box, rec), dumped(box, rec)
    done = box.tare("compact", rec)
    check_equal(done.code, 0, done)
    check_equal([n for n in names(box, rec) if n.endswith((".events", ".ring", ".new"))], [])
    for was, now in zip(before, views(box, rec)):
        check_equal(now, was)
    check_equal(dumped(box, rec), records)


def compacts(program):
    def run(box):
        box.record(fixture("e2e_" + program), exit_code=None)
        check_compacts(box)
    run.__name__ = "recording_of_%s_reads_the_same" % program
    return case(run)


for _program in ("alloc", "threads", "fork", "exec", "graphs", "pools", "tensors", "cpu_tensors",
                 "torch_streams", "phases", "oom", "vmm", "torch_graphs"):
    compacts(_program)


@case
def killed_program_reads_the_same(box):
    box.record(fixture("e2e_ends", "kill"), exit_code=137)
    check_compacts(box)


@case
def python_program_reads_the_same(box):
    needs_exec()
    box.record([sys.executable, os.path.join(os.path.dirname(__file__), "python", "program.py")],
               exit_code=None)
    check_compacts(box)


@case
def reports_outlive_all_events(box):
    """What every kind of report says, of programs of every kind, from a state alone."""
    for program in ("alloc", "threads", "fork", "exec", "graphs", "pools", "tensors", "cpu_tensors", "torch_streams",
                    "phases", "oom", "vmm", "torch_graphs", "captures"):
        rec = program + ".tare"
        box.record(fixture("e2e_" + program), rec=rec, exit_code=None)
        before = views(box, rec)
        box.drop_events(rec)
        for was, now in zip(before, views(box, rec)):
            check_equal(now, was)


@case
def recording_that_was_compacted_on_the_way_reads_the_same(box):
    needs_exec()
    box.record(fixture("e2e_steps"), input=b"alloc 900000000\nstorm 20000\nalloc 5000000\nstorm 9000\nquit\n",
               options=["--cap", "2MiB"])
    check("segments.json" in names(box), names(box))
    check_compacts(box)


@case
def training_with_pytorch_reads_the_same(box):
    needs_torch()
    program = os.path.join(os.path.dirname(__file__), "..", "..", "examples", "optimizers.py")
    box.record([PYTHON, program, "--cpu", "--steps", "5"], timeout=120)
    check_compacts(box)


@case
def compacting_twice_changes_nothing(box):
    box.record(fixture("e2e_alloc"))
    check_equal(box.tare("compact", "rec.tare/").code, 0)
    before = names(box)
    done = box.tare("compact", "rec.tare")
    check_equal(done.code, 0, done)
    check_says(done.out, "rec.tare", "in segments already")
    check_equal(names(box), before)


@case
def ranks_of_a_job_are_compacted_one_by_one(box):
    os.mkdir(box.path("job"))
    for rank in "01":
        env = {"RANK": rank, "WORLD_SIZE": "2", "LOCAL_RANK": rank, "MASTER_ADDR": "here",
               "MASTER_PORT": "29500", "TORCHELASTIC_RUN_ID": "job7"}
        box.record(fixture("e2e_alloc"), rec="job/%s.tare" % rank, env=env)
    before = box.tare("report", "job", "--by", "rank")
    check_equal(before.code, 0, before)
    done = box.tare("compact", "job")
    check_equal(done.code, 2, done)
    check_says(done.err, "give the folder of one recording")
    for rank in "01":
        check_equal(box.tare("compact", "job/%s.tare" % rank).code, 0)
    check_equal(box.tare("report", "job", "--by", "rank").out, before.out)


@case
def rank_that_only_the_program_was_told_is_found(box):
    needs_exec()
    os.mkdir(box.path("job"))
    for rank in "01":
        told = ["RANK=" + rank, "WORLD_SIZE=2", "LOCAL_RANK=" + rank, "MASTER_ADDR=here",
                "MASTER_PORT=29500", "TORCHELASTIC_RUN_ID=job7"]
        box.record(["/usr/bin/env"] + told + fixture("e2e_alloc"), rec="job/%s.tare" % rank)
    before = box.tare("report", "job", "--by", "rank")
    check_equal(before.code, 0, before)
    for rank in "01":
        check_equal(box.tare("compact", "job/%s.tare" % rank).code, 0)
    after = box.tare("report", "job", "--by", "rank")
    check_equal((after.code, after.out), (0, before.out), after)


@case
def recording_that_is_replaced_may_be_compacted(box):
    box.record(fixture("e2e_alloc"))
    check_equal(box.tare("compact", "rec.tare").code, 0)
    box.record(fixture("e2e_idle"), options=["-f"])
    check("segments.json" not in names(box), names(box))


@case
def recording_that_runs_is_refused(box):
    needs_exec()
    running = box.start(tare_argv(*record_args(fixture("e2e_steps"))), sim=True,
                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    while not os.path.exists(box.path("rec.tare", "tare.events")):
        time.sleep(0.01)
    done = box.tare("compact", "rec.tare", "--force")
    check_equal(done.code, 2, done)
    check_says(done.err, "rec.tare", "still being written")
    check("tare.events" in names(box) and "segments.json" not in names(box), names(box))
    running.stdin.close()
    running.wait()


@case
def recording_that_runs_is_sealed_as_it_grows(box):
    needs_exec()
    running = box.start(tare_argv(*record_args(fixture("e2e_steps"))), sim=True, stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE)
    for i in range(6):
        running.stdin.write(b"%s %d\nalloc 4096\n" % (b"threads" if i % 2 else b"storm", 300 * (i + 1)))
        running.stdin.flush()
        while not running.stdout.readline().startswith(b"took"):
            pass
        time.sleep(0.1)  # so that tare drains what there is
        os.kill(running.pid, signal.SIGSTOP)  # or it would go on reading NVML
        shutil.copytree(box.path("rec.tare"), box.path("copy.tare"))
        done = box.tare("compact", "--running", "rec.tare")
        check_equal(done.code, 0, done)
        check_says(done.out, "records")
        for was, now in zip(views(box, "copy.tare"), views(box)):
            check_equal(now[1].replace("rec.tare", "copy.tare"), was[1])
        check_equal([line.replace("rec.tare", "copy.tare") for line in dumped(box)], dumped(box, "copy.tare"))
        shutil.rmtree(box.path("copy.tare"))
        os.kill(running.pid, signal.SIGCONT)
    check_equal(len([n for n in names(box) if n.endswith(".segment")]), 6)
    running.stdin.close()
    running.wait()
    check_compacts(box)


@case
def recording_of_a_killed_tare_is_compacted_when_one_says_so(box):
    needs_exec()
    running = box.start(tare_argv(*record_args(fixture("e2e_steps"))), sim=True,
                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    while not glob.glob(box.path("rec.tare", "*-0.events")):
        time.sleep(0.01)
    os.kill(running.pid, signal.SIGKILL)
    program = int(os.path.basename(glob.glob(box.path("rec.tare", "*-0.events"))[0]).split("-")[0])
    running.stdin.close()
    running.wait()
    wait_until(lambda: not os.path.exists("/proc/%d" % program), "the program does not end")

    def compacted():
        done = box.tare("compact", "rec.tare")
        return "still being written" not in done.err and done

    done = wait_until(compacted, "it is still being written")
    check_equal(done.code, 2, done)
    check_says(done.err, "not closed in order", "--force")
    before = views(box)
    check_equal(box.tare("compact", "rec.tare", "--force").code, 0)
    for was, now in zip(before, views(box)):
        check_equal(now, was)


def kill_at(box, n, *args):
    done = box.run(fixture("e2e_kill_at", str(n), os.path.join(BUILD, "tare"), *args))
    check(done.code in (0, 3), done)
    return done.code == 0


def check_reads_as(box, before, *what):
    done = box.tare("report", "killed.tare", "--json")
    check_equal(done.code, 0, done, *what)
    check_equal(done.out.replace("killed.tare", "rec.tare"), before, *what)


@case
def killed_at_any_system_call_the_recording_reads_the_same(box):
    needs_exec()
    box.record(fixture("e2e_tensors"), exit_code=None)
    before = box.tare("report", "rec.tare", "--json").out
    states, n, more = set(), 0, True
    while more:
        n += 1
        shutil.rmtree(box.path("killed.tare"), ignore_errors=True)
        shutil.copytree(box.path("rec.tare"), box.path("killed.tare"))
        more = kill_at(box, n, "compact", box.path("killed.tare"))
        left = tuple(names(box, "killed.tare"))
        check_reads_as(box, before, n, left)
        if left in states and more:
            continue
        states.add(left)
        check_equal(box.tare("compact", "killed.tare").code, 0, n, left)
        check_reads_as(box, before, n, left)
        check_equal([name for name in names(box, "killed.tare")
                     if name not in ("control", "recording.json", "segments.json", "000001.segment",
                                     "000002.segment")], [], n, left)
    print("# %d system calls, %d different folders" % (n - 1, len(states)))
    check(n > 50 and len(states) > 4, n, states)


@case
def disk_that_is_full_leaves_the_recording_as_it_was(box):
    box.record(fixture("e2e_alloc"))
    before = names(box), box.tare("report", "rec.tare", "--json").out
    done = on_small_disk(box, "1m", "; ".join([
        "cp -r rec.tare $disk",
        "head -c 1048576 /dev/zero >$disk/full 2>/dev/null",
        " ".join(tare_argv("compact", "$disk/rec.tare")),
        "echo code $?",
        "ls $disk/rec.tare | sort | tr '\\n' ' '",
        " ".join(tare_argv("report", "$disk/rec.tare", "--json"))]))
    check_says(done.out, "code 125")
    check_says(done.err, "No space left")
    check_says(done.out, " ".join(before[0]))
    report = json.loads(done.out[done.out.index("{"):])
    check_equal(report["devices"], json.loads(before[1])["devices"])


if __name__ == "__main__":
    main()
