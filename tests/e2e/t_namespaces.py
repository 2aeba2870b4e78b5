#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs and tare in pid namespaces, sessions and groups of their own."""

import os
import signal
import subprocess
import sys
import time

from harness import (FIXTURES, Expectations, Skip, case, check, check_equal, check_recording, fixture, main, needs_exec,
                     needs_root, record_args, row_of, show, tare_argv, wait_until)

UNSHARE = ["unshare", "--pid", "--fork", "--mount-proc", "--propagation", "unchanged"]  # in a chroot / is no mount
ORPHANS = """
import os, subprocess, time
for _ in range(5):
    subprocess.call(["/bin/sh", "-c", "sleep 0.05 & exit 0"])
time.sleep(1)
states = []
for pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        states.append(open("/proc/%s/stat" % pid).read().rsplit(")", 1)[1].split()[0])
    except OSError:
        pass
print("zombies", states.count("Z"), flush=True)
"""


def needs_namespaces(box):
    needs_exec()
    needs_root()
    done = box.run(UNSHARE + ["true"])
    if done.code != 0:
        raise Skip("this machine makes no pid namespaces: " + done.err)


@case
def program_in_a_pid_namespace(box):
    """It is process 1 there; what it does is recorded, and how it ends is passed on."""
    needs_namespaces(box)
    done = box.record(UNSHARE + fixture("e2e_alloc"))
    wanted = Expectations(done.out)
    report = box.report()
    # Its pid here is not the one it knows; the bytes are the same.
    rows = [row for row in wanted.rows if row[5] == "end" and "/" in row[1]]
    check(rows, done)
    for _, path, size, _, _, _ in rows:
        check_equal(row_of(report, path.split("/", 1)[1]), int(size), path, show(report))
    for how, code in (("_exit", 3), ("abort", 134), ("kill", 137)):
        alone = box.run(UNSHARE + fixture("e2e_ends", how), sim=True)
        done = box.record(UNSHARE + fixture("e2e_ends", how), rec=how + ".tare", exit_code=None)
        check_equal(done.code, alone.code if alone.code >= 0 else 128 - alone.code, how, done)


@case
def children_in_pid_namespaces(box):
    """Each with the same pid, one after another: each has a log of its own, and nothing is left at the end."""
    needs_namespaces(box)
    program = " ".join(UNSHARE + fixture("e2e_alloc"))
    done = box.record(["/bin/sh", "-c", "for i in 1 2 3; do %s >/dev/null; done" % program])
    logs = sorted(n for n in os.listdir(box.path("rec.tare")) if n.endswith(".events") and n[0].isdigit())
    check_equal(logs, ["1-0.events", "1-1.events", "1-2.events"], done)
    calls = [event for event in box.events() if event["api"] == "cuInit"]
    check_equal(len(calls), 3)


@case
def tare_is_process_one(box):
    """As in a container: it is signalled as such, and buries orphans."""
    needs_namespaces(box)
    done = box.run(UNSHARE + tare_argv(*record_args(fixture("e2e_alloc"))))
    check_equal(done.code, 0, done)
    check_recording(box, done)
    done = box.run(UNSHARE + tare_argv(*record_args([sys.executable, "-c", ORPHANS], rec="orphans.tare", sim=None)))
    check_equal(done.out, "zombies 0\n", done)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
        running = box.start(UNSHARE + tare_argv(*record_args(["/bin/sh", "-c", "echo ready; exec sleep 60"],
                                                             rec="rec%d.tare" % number, sim=None)))
        check_equal(running.stdout.readline(), b"ready\n")
        with open("/proc/%d/task/%d/children" % (running.pid, running.pid), encoding="utf-8") as text:
            os.kill(int(text.read().split()[0]), number)
        _, err = running.communicate(timeout=30)
        check_equal(running.returncode, 128 + number, err.decode())


@case
def sessions_and_groups(box):
    """What a program sees of its place, where it does not lead the group anyway."""
    needs_exec()
    script = ("import os,subprocess,sys\n"
              "def place(): return os.getsid(0) == os.getpid(), os.getpgrp() == os.getpid()\n"
              "print(place(), os.getpgrp() == int(sys.argv[1]), os.getsid(0) == int(sys.argv[2]))\n"
              "os.setsid(); print(place())\n"
              "print(subprocess.run([sys.executable, '-c', 'import os; os.setpgid(0, 0); print(os.getpgrp() == os.getpid())'],"
              " stdout=-1).stdout)\n")
    command = [sys.executable, "-c", script, str(os.getpgrp()), str(os.getsid(0))]
    alone = box.run(command)
    done = box.record(command, sim=None)
    check_equal((done.code, done.out), (0, alone.out), alone)


@case
def program_that_ends_its_group(box):
    """kill(0, …), as scripts do at their end: tare ends with the program, and what was done is kept."""
    needs_exec()
    alloc = os.path.join(FIXTURES, "e2e_alloc_link")
    script = "%s >out; trap 'exit 8' TERM; kill -TERM 0; sleep 5" % alloc
    running = box.start(tare_argv(*record_args(["/bin/sh", "-c", script])), start_new_session=True)
    _, err = running.communicate(timeout=60)
    check_equal(running.returncode, 8, err.decode())
    check(box.report()["opened_gpu"], "what was done before is gone")


@case
def killed_with_its_group(box):
    """timeout -s KILL, a scheduler: program and tare at once. What was done is kept, whole."""
    needs_exec()
    running = box.start(tare_argv(*record_args(fixture("e2e_steps"))), stdin=subprocess.PIPE, start_new_session=True)
    check_equal(running.stdout.readline(), b"ready\n")
    running.stdin.write(b"alloc 1000000\n")
    running.stdin.flush()
    check_equal(running.stdout.readline(), b"took\t1000000\n")
    os.killpg(running.pid, signal.SIGKILL)
    running.communicate(timeout=60)
    wait_until(lambda: not left_of(running.pid), "processes are left")
    check_equal(row_of(box.report(), "allocations/e2e_steps"), 1000000)


def session_of(pid):
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return None


def left_of(session):
    return [p for p in os.listdir("/proc") if p.isdigit() and session_of(int(p)) == session]


@case
def nothing_is_left_of_a_killed_tare(box):
    """The process beside the program goes with tare; the program goes on to its own end."""
    needs_exec()
    running = box.start(tare_argv(*record_args(fixture("e2e_steps"))), stdin=subprocess.PIPE, start_new_session=True)
    check_equal(running.stdout.readline(), b"ready\n")
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    wait_until(lambda: len(left_of(running.pid)) == 1, "not the program alone is left")
    running.stdin.write(b"alloc 1000000\nquit\n")
    running.stdin.close()
    check_equal(running.stdout.read(), b"took\t1000000\n")
    check_equal(row_of(box.report(), "allocations/e2e_steps"), 1000000)


main()
