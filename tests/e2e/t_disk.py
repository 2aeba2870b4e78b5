#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A disk that is full: what could not be written is counted, and the program never notices."""

import csv as csvs
import json
import os
import re
import resource
import shutil
import subprocess

from harness import (PYTHON, ROOT, Skip, case, check, check_equal, check_says, fixture, main, needs_exec, on_small_disk, program_of,
                     record_args, row_of, show, tare_argv)

MANY = b"storm 60000\nquit\n"  # some 12 MiB of records


def recorded(box, size, steps=MANY):
    """(done, report or None): a program that is recorded on a disk of this size."""
    record = " ".join(tare_argv(*record_args(fixture("e2e_steps"), rec="$disk/rec.tare")))
    report = " ".join(tare_argv("report", "$disk/rec.tare", "--at", "end", "--json"))
    done = on_small_disk(box, size, "%s; echo code $?; ls $disk/rec.tare >&2; echo ---; %s" % (record, report),
                         input=steps, timeout=120)
    return done


def check_program_is_unharmed(done, steps):
    out = done.out.split("---")[0]
    check(out.startswith("ready\n"), done)
    check_equal(out.count("\nt"), steps, done)
    check("code 0\n" in out, "the program did not end as it would have", done)
    check("still being written" not in done.err, "tare has ended, and the recording does not say so", done)


@case
def disk_fills_up(box):
    done = recorded(box, "6m")
    check_program_is_unharmed(done, 60000)
    check_says(done.err, "writing the recording failed", "No space left on device")
    lost = re.search(r"(\d+) records are missing", done.err)
    check(lost and int(lost.group(1)) > 0, "nothing was counted as lost", done)
    report = done.out.split("---")[1]
    check('"tare": 1' in report, "the report cannot be read", done)
    check_says(report, "given up because the disk was full")


def storm_in_json(box, *options):
    """The report of a storm that outgrows its disk."""
    record = " ".join(tare_argv(*record_args(fixture("e2e_steps"), rec="$disk/rec.tare", options=options)))
    report = " ".join(tare_argv("report", "$disk/rec.tare", "--at", "end", "--json"))
    lines = " ".join(tare_argv("report", "$disk/rec.tare", "--at", "end", "--by", "account"))
    csv = " ".join(tare_argv("report", "$disk/rec.tare", "--at", "end", "--csv"))
    done = on_small_disk(box, "6m", "%s >&2; %s; echo ---; %s; echo ---; %s" % (record, report, lines, csv),
                         input=MANY, timeout=120)
    report, lines, csv = done.out.split("---\n")
    return json.loads(report), lines, csv


@case
def every_form_tells_of_losses(box):
    report, lines, csv = storm_in_json(box)
    losses = [row for row in report["losses"] if row["program"] != "tare"]
    check(losses and all(row["pid"] and row["tid"] and row["records"] > 0 for row in losses), show(report))
    check(all(0 <= row["from_ns"] <= row["to_ns"] for row in losses), show(report))
    check_equal({(row["reason"], row["program"]) for row in losses}, {("disk-full", "e2e_steps")})
    check_equal({row["evidence"] for row in report["devices"][0]["accounts"] if row["pid"]}, {"inferred"})
    lost = sum(row["records"] for row in losses)
    check_says(lines, "! %d records are missing" % lost, "inferred")
    check("exact" not in lines.split("is exact")[1] and "weighed" not in lines, lines)
    rows = list(csvs.DictReader(csv.splitlines()))
    check_equal(sum(int(row["count"] or 0) for row in rows if row["kind"] == "lost"), lost)


OF_THE_CLOCK = ("rss",)  # where a call of the start took much of the host: at times, and before anything is lost


def counted(box, size):
    """(records of the program in the log, told as lost), recorded on a disk of this size."""
    record = " ".join(tare_argv(*record_args(fixture("e2e_steps"), rec="$disk/rec.tare")))
    dump = " ".join(tare_argv("dump", "$disk/rec.tare", "--json"))
    shutil.rmtree(box.path("disk"), ignore_errors=True)
    done = on_small_disk(box, size, "%s >/dev/null; %s" % (record, dump), input=MANY, timeout=120)
    rows = [row for row in map(json.loads, done.out.splitlines())
            if "kind" in row and not row["log"].startswith("tare")]
    return (sum(row["kind"] not in ("lost", "lane") + OF_THE_CLOCK for row in rows),
            sum(row["records"] for row in rows if row["kind"] == "lost"))


@case
def what_is_told_as_lost_is_what_is_missing(box):
    """To the record: the program makes the same ones each time."""
    all_of_them, lost = counted(box, "64m")
    check_equal(lost, 0)
    for size in "2m", "5m":
        there, lost = counted(box, size)
        check(lost > 0, "nothing was lost on %s" % size)
        check_equal(there + lost, all_of_them, size)


@case
def disk_too_small_for_a_ring(box):
    """Then it lives in memory and the program writes it out itself."""
    done = recorded(box, "1m", b"storm 100\nquit\n")
    check_program_is_unharmed(done, 100)
    report = json.loads(done.out.split("---")[1])
    check_equal(row_of(report, "allocations/e2e_steps"), 50 * 1001, show(report))
    check_equal(report["degraded"], [])


@case
def disk_too_small_for_a_ring_fills_up(box):
    done = recorded(box, "1m")
    check_program_is_unharmed(done, 60000)
    check_says(done.err, "writing the recording failed", "No space left on device")
    lost = re.search(r"(\d+) records are missing", done.err)
    check(lost and int(lost.group(1)) > 50000, "not all of the loss was counted", done)


@case
def disk_full_from_the_start(box):
    record = " ".join(tare_argv(*record_args(fixture("e2e_steps"), rec="$disk/rec.tare")))
    done = on_small_disk(box, "64k", "head -c 65536 /dev/zero >$disk/full 2>/dev/null; %s; echo code $?"
                         % record, input=b"quit\n")
    check("code 125" in done.out, done)
    check_says(done.err, "rec.tare", "No space left on device")


@case
def a_temporary_folder_without_room_ends_nobody(box):
    """What the processes of a simulated machine share lies there: without room there is no card, and a sentence."""
    demo, export = tare_argv("demo", "--sim", "h200", "-o", "rec.tare"), tare_argv("report", "rec.tare", "--format", "sqlite", "-o", "rec.db")
    done = on_small_disk(box, "64k", "head -c 65536 /dev/zero >$disk/full 2>/dev/null; export TMPDIR=$disk; unset TARE_SIM_DIR; %s; echo code $?; %s; echo code $?"
                         % (" ".join(demo), " ".join(export)))
    check_equal(re.findall(r"code (\d+)", done.out), ["1", "125"], done)
    check_says(done.err, "simulated GPU: the state of the machine", "has no room", "no space left on the disk; make room")


def limited(box, victim_of, steps):
    """(tare, stdout, stderr): the process that victim_of() picks may write no file beyond 40 KiB."""
    running = box.start(tare_argv(*record_args(fixture("e2e_steps"))), stdin=subprocess.PIPE)
    check_equal(running.stdout.readline(), b"ready\n")
    victim = victim_of(running)
    resource.prlimit(victim, resource.RLIMIT_FSIZE, (40960, 40960))
    running.stdin.write(steps)
    running.stdin.close()
    out, err = running.stdout.read(), running.stderr.read()
    running.wait(timeout=60)
    return running, out, err.decode()


@case
def file_size_limit_of_tare(box):
    """ulimit -f sends a signal that would end tare, and with it nothing else."""
    needs_exec()
    running, out, err = limited(box, lambda tare: tare.pid, b"events 5000\nquit\n")
    check_equal((running.returncode, out.count(b"t\n")), (0, 5000), err)
    check_says(err, "writing the recording failed", "File too large", "records are missing")
    check(box.report()["opened_gpu"], "what was written before is gone")


@case
def file_size_limit_of_the_program(box):
    """The same, where the program writes its own log because tare is gone."""
    needs_exec()

    def kill_tare(tare):
        program = program_of(tare)
        tare.kill()
        tare.wait()
        return program

    _, out, err = limited(box, kill_tare, b"events 40000\nquit\n")
    check_equal(out.count(b"t\n"), 40000, err)
    check(box.report()["opened_gpu"], "what was written before is gone")


MANY_THREADS = """
import ctypes, threading, tare
cuda, context = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
assert cuda.cuInit(0) == 0 and cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
threading.stack_size(128 << 10)
all_have_one = threading.Barrier(2200)

def work():
    with tare.phase("of a thread"):
        all_have_one.wait(60)

threads = [threading.Thread(target=work) for _ in range(2200)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


@case
def what_is_lost_for_another_reason_is_not_the_disks(box):
    """A log has 2,048 lanes, and each thread that records takes one."""
    needs_exec()
    done = box.tare(*record_args([PYTHON, "-c", MANY_THREADS]), timeout=120, env={"PYTHONPATH": os.path.join(ROOT, "python")})
    if "can't start new thread" in done.err:
        raise Skip("no 2,200 threads can be started here")
    lost = re.search(r"(\d+) records are missing: more threads recorded at once than a log has lanes", done.err)
    check(lost and "No space left" not in done.err, done)
    check_says(box.tare("report", "rec.tare").out, "! %s records are missing" % lost.group(1))


HEAP = 300000  # rounds of e2e_heap, half a million blocks and frees


def heap_recorded(box, disk, before="", command="%s"):
    """e2e_heap, every block recorded on such a disk: what it took of a processor in s, how many blocks and frees the
    recording has, and how many records are told to be missing."""
    shutil.rmtree(box.path("disk"), ignore_errors=True)
    heap = " ".join(fixture("e2e_heap", "random", str(HEAP), "5"))
    record = " ".join(tare_argv(*record_args(["sh", "-c", "'%s; times'" % (command % heap)], sim=None, rec="$disk/rec.tare",
                                             options=("--host=full",))))
    dump = " ".join(tare_argv("dump", "$disk/rec.tare", "--json"))
    done = on_small_disk(box, disk, "%s %s; echo ---; %s" % (before, record, dump), timeout=120)
    out, log = done.out.split("---\n")
    check_equal(len(out.splitlines()), 3, done)
    took = sum(int(minutes) * 60 + float(seconds)
               for minutes, seconds in re.findall(r"(\d+)m([\d.]+)s", out.splitlines()[-1]))
    kinds = [row["kind"] for row in map(json.loads, log.splitlines()) if "kind" in row]
    lost = re.search(r"(\d+) records are missing", done.err)
    return took, sum(kind.startswith("heap_") for kind in kinds), int(lost.group(1)) if lost else 0


def check_is_as_quick(took, with_room, *what):
    """In ticks of 10 ms on a machine that does other things, too; a record that was given up once took ten times as long."""
    check(took < 1.3 * with_room + 0.1, *what, took, with_room)


@case
def no_room_costs_a_program_nothing(box):
    """The ring is memory, or a file and the log has no room; a limit on files from the begin on, or only of the program."""
    with_room, rows, lost = heap_recorded(box, "256m")
    check_equal(lost, 0)
    for how in (("300k",), ("1500k",), ("8m",), ("256m", "ulimit -f 100;"), ("256m", "", "ulimit -f 8000; %s")):
        took, there, lost = heap_recorded(box, *how)
        # Of a block that is written in part, what is there counts as lost, too. A program that alone has a limit loses what
        # `tare` does not take in time, which may be nothing.
        check((lost or len(how) > 2) and 0 <= there + lost - rows < 2200, how, rows, there, lost)
        check_is_as_quick(took, with_room, how)


@case
def a_folder_that_goes_away_costs_a_program_nothing(box):
    with_room = heap_recorded(box, "256m")[0]
    for command in ("mv disk/rec.tare disk/away; %s", "%s & sleep 0.05; mv disk/rec.tare disk/away; wait"):
        check_is_as_quick(heap_recorded(box, "256m", "", command)[0], with_room, command)


main()
