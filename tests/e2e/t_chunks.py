#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A log in several files: whoever writes it, and whoever cannot, every record is there once."""

import os
import re
import signal
import subprocess
import time

from harness import (WRAPPER, Skip, case, check, check_equal, fixture, main, needs_exec, needs_root, program_of,
                     record_args, row_of, show, tare_argv)

CHUNK = 65536
SMALL = {"TARE_TEST_CHUNK_BYTES": str(CHUNK)}
STORM = 8000  # 1.6 MiB of records: more than a lane holds, and some 25 chunks
STEPS = b"storm %d\n" % STORM


def names(box, rec="rec.tare"):
    return sorted(os.listdir(box.path(rec)))


def chunks(box, rec="rec.tare"):
    """By log: the numbers of its chunks behind the first."""
    found = {}
    for name in names(box, rec):
        match = re.fullmatch(r"(\d+-\d+)\.events\.(\d+)", name)
        if match:
            found.setdefault(match[1], []).append(int(match[2]))
    return {log: sorted(numbers) for log, numbers in found.items()}


def check_chunks(box, logs, is_killed=False):
    """Each log is in several files, or the rollup at the end has compacted it, as it does where logs are large and there is time."""
    if is_killed or not [name for name in names(box) if name.endswith(".segment")]:
        check_equal(len(chunks(box)), logs, names(box))
        check(all(len(numbers) > 2 for numbers in chunks(box).values()), names(box))


def check_whole(box, rec="rec.tare", programs=1):
    """Each program has made STORM allocations and given back every second of them; the recording has each call once."""
    report = box.report(rec)
    check_equal([d for d in report["degraded"] if "tare" not in d.lower()], [], show(report))
    for device in report["devices"]:
        check_equal(device["unexplained_bytes"], 0, show(report))
    made = [e for e in box.events(rec) if e["api"] == "cuMemAlloc_v2"]
    check_equal(len(made), programs * STORM)
    if programs == 1:  # others may have ended before, and nothing of theirs is left
        check_equal(row_of(report, "allocations/e2e_steps"), STORM // 2 * 1001, show(report))


def start(box, options=()):
    if WRAPPER:
        raise Skip("an emulated program takes minutes to fill several files")
    running = box.start(tare_argv(*record_args(fixture("e2e_steps"), options=options)), stdin=subprocess.PIPE,
                        env=SMALL)
    check_equal(running.stdout.readline(), b"ready\n")
    return running, program_of(running)


def finish(running, steps=STEPS):
    out, err = running.communicate(steps, timeout=60)
    check_equal(out.count(b"t\n"), STORM, err)


def block_chunk(box, program, number):
    """Nobody can make that file."""
    os.mkdir(box.path("rec.tare", "%d-0.events.%d" % (program, number)))


@case
def tare_writes_them(box):
    running, program = start(box)
    finish(running)
    check_equal(running.returncode, 0)
    check_whole(box)
    numbers = chunks(box)["%d-0" % program]
    check(len(numbers) > 10 and numbers == list(range(1, len(numbers) + 1)), numbers)
    for number in numbers[:-1]:
        check_equal(os.stat(box.path("rec.tare", "%d-0.events.%d" % (program, number))).st_size, CHUNK)
    check_equal({os.stat(box.path("rec.tare", n)).st_mode & 0o777 for n in names(box)}, {0o600})


@case
def sixteen_mebibytes_by_themselves(box):
    """What is recorded without the knob of tests, and in one file if it is less."""
    box.record(fixture("e2e_steps"), input=b"storm 100\nquit\n")
    check_equal(chunks(box), {})
    dumped = box.tare("dump", "rec.tare", "--json").out
    check_equal(re.findall(r'"role": ?"program".*?"chunk_bytes": ?(\d+)', dumped), [str(16 << 20)])


@case
def program_writes_them_after_tare_was_killed(box):
    running, _ = start(box)
    os.kill(running.pid, signal.SIGKILL)
    finish(running)
    time.sleep(0.1)
    check(len(list(chunks(box).values())[0]) > 5, names(box))
    check_whole(box)


@case
def program_writes_them_while_tare_is_stopped(box):
    running, _ = start(box)
    os.kill(running.pid, signal.SIGSTOP)
    running.stdin.write(STEPS)
    running.stdin.flush()
    for _ in range(2 * STORM - STORM // 2):
        running.stdout.readline()
    check(len(list(chunks(box).values())[0]) > 5, names(box))
    check_whole(box)
    os.kill(running.pid, signal.SIGCONT)
    running.stdin.close()
    running.wait(timeout=20)
    check_whole(box)


@case
def who_can_make_no_file_writes_into_the_first(box):
    for is_killed in False, True:
        running, program = start(box, ["-f"])
        for number in 2, 3, 5:
            block_chunk(box, program, number)
        if is_killed:
            os.kill(running.pid, signal.SIGKILL)
        finish(running)
        time.sleep(0.1)
        check(os.stat(box.path("rec.tare", "%d-0.events" % program)).st_size > 5 * CHUNK, names(box))
        check_whole(box)
        for number in 2, 3, 5:
            os.rmdir(box.path("rec.tare", "%d-0.events.%d" % (program, number)))


@case
def program_that_went_elsewhere(box):
    """A folder that is not the one it started in, and then a root in which the recording is not."""
    needs_root()
    os.mkdir(box.path("elsewhere"))
    running, _ = start(box)
    finish(running, b"chdir elsewhere\n" + STEPS)
    check_whole(box)
    running, _ = start(box, ["-f"])
    os.kill(running.pid, signal.SIGKILL)
    finish(running, b"chdir elsewhere\n" + STEPS)
    time.sleep(0.1)
    check_whole(box)
    check_equal(os.listdir(box.path("elsewhere")), [])
    running, _ = start(box, ["-f"])
    running.stdin.write(b"chroot elsewhere\n")
    # In turns, as only tare can write: a lane has room for some two thousand calls.
    for _ in range(STORM // 1000):
        running.stdin.write(b"storm 1000\n")
        running.stdin.flush()
        for _ in range(1500):
            running.stdout.readline()
        time.sleep(0.1)
    running.communicate(timeout=20)
    check_equal(running.returncode, 0)
    check_whole(box)
    check_equal(os.listdir(box.path("elsewhere")), [])


@case
def parent_and_child(box):
    """Both write at the same time, each its own log."""
    for is_killed in False, True:
        running, program = start(box, ["-f"])
        if is_killed:
            os.kill(running.pid, signal.SIGKILL)
        finish(running, b"fork %d\n" % STORM + STEPS)
        time.sleep(0.1)
        check_chunks(box, 2, is_killed)
        made = [e["log"] for e in box.events() if e["api"] == "cuMemAlloc_v2"]
        check_equal(sorted(made.count(log) for log in set(made)), [STORM, STORM])
        check_equal(made.count("%d-0.events" % program), STORM)


@case
def several_programs_at_once(box):
    needs_exec()
    steps = "yes '%s' | head -1 | %s & " % (STEPS.decode().strip(), fixture("e2e_steps")[0])
    box.record(["/bin/sh", "-c", steps * 3 + "wait"], env=SMALL)
    check_chunks(box, 3)
    check_whole(box, programs=3)


@case
def recording_on_a_network_folder(box):
    """It is recorded elsewhere, and all of its files come."""
    needs_exec()
    done = box.record(fixture("e2e_steps"), input=STEPS, env=dict(SMALL, TARE_TEST_REMOTE_FOLDER="1", TMPDIR=box.dir))
    check_equal(done.out.count("\nt"), STORM, done)
    check(len(list(chunks(box).values())[0]) > 10, names(box))
    check_whole(box)
    check_equal([n for n in os.listdir(box.dir) if "spool" in n], [])


@case
def compacted(box):
    needs_exec()
    box.record(fixture("e2e_steps"), input=STEPS, env=SMALL)
    before = box.tare("dump", "rec.tare", "--json").out
    check_equal(box.tare("compact", "rec.tare").code, 0)
    check_equal(chunks(box), {})
    check_whole(box)
    check_equal(len(before.splitlines()), len(box.tare("dump", "rec.tare", "--json").out.splitlines()))


@case
def one_file_of_a_log_is_no_recording(box):
    needs_exec()
    box.record(fixture("e2e_steps"), input=STEPS, env=SMALL)
    name = "%s.events.3" % list(chunks(box))[0]
    done = box.tare("report", "rec.tare/" + name)
    check_equal(done.code, 125, done)
    check("is not a recording of Tare" in done.err and ".events file" in done.err, done)


if __name__ == "__main__":
    main()
