#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Job control: a shell sees the job stop and go on with the program, not with tare; and its terminal is
the program's."""

import os
import signal
import subprocess
import sys
import time

from harness import (case, check, check_equal, end_of, main, needs_exec, on_terminal, read_until, record_args,
                     tare_argv, wait_until)

SHELL = ["/bin/bash", "--norc", "-m", "-c"]
# Says what reaches it. Stopped by ^Z it says nothing, for then it is stopped.
PROGRAM = """
import os, select, signal, sys, time
def heard(number, frame):
    os.write(1, b"heard %s\\n" % signal.Signals(number).name.encode())
for name in sys.argv[1:]:
    signal.signal(getattr(signal, name), heard)
print("ready", os.getpid(), os.getppid(), flush=True)
until = time.monotonic() + 300
while time.monotonic() < until:
    if select.select([0], [], [], 0.05)[0]:
        line = sys.stdin.readline().split()
        if not line or line[0] == "quit":
            break
        print("read", *line, flush=True)
print("over", flush=True)
sys.exit(5)
"""


def job(box, *catches):
    return " ".join(tare_argv(*record_args([sys.executable, "-c", '"$PROGRAM"'] + list(catches), sim=None)))


def start(box, script):
    pid, fd = on_terminal(box, SHELL + [script], {"PROGRAM": PROGRAM})
    words = read_until(fd, b"\n").split()
    check(b"ready" in words, words)
    at = words.index(b"ready")
    return pid, fd, int(words[at + 1]), int(words[at + 2])


def fg(box):
    """What a shell does when the test says so."""
    return "while ! [ -e %s ]; do sleep 0.02; done; fg >/dev/null; echo code $?" % box.path("fg")


def go(box):
    with open(box.path("fg"), "w", encoding="utf-8"):
        pass


def expect(fd, *texts):
    """What comes until the last of them; they may come at once."""
    seen = read_until(fd, texts[-1])
    for text in texts:
        check(text in seen, "%r did not come" % text, seen)


def state(pid):
    with open("/proc/%d/stat" % pid, encoding="utf-8") as text:
        return text.read().rsplit(")", 1)[1].split()[0]


def wait_for_state(pid, wanted):
    wait_until(lambda: (state(pid) == "T") == wanted, "process %d is %s" % (pid, "running" if wanted else "stopped"))


def check_stopped(program, tare):
    wait_for_state(program, True)
    wait_for_state(tare, True)


def check_runs(program, tare):
    wait_for_state(program, False)
    wait_for_state(tare, False)


def finish(pid, fd, tare):
    # In the background it would be stopped by reading.
    wait_until(lambda: os.tcgetpgrp(fd) == tare, "it does not come to the foreground")
    os.write(fd, b"quit\n")
    expect(fd, b"over", b"code 5")
    end_of(pid)


@case
def stopped_by_the_terminal(box):
    needs_exec()
    pid, fd, program, tare = start(box, job(box) + "; echo stopped $?; " + fg(box))
    os.write(fd, b"\x1a")
    expect(fd, b"stopped %d" % (128 + signal.SIGTSTP))
    check_stopped(program, tare)
    go(box)
    check_runs(program, tare)
    os.write(fd, b"hello\n")
    expect(fd, b"read hello")
    finish(pid, fd, tare)


@case
def program_that_does_not_stop(box):
    """It catches ^Z: then the job does not stop, and the shell must not take the terminal."""
    needs_exec()
    pid, fd, program, tare = start(box, job(box, "SIGTSTP") + "; echo code $?")
    for _ in range(2):
        os.write(fd, b"\x1a")
        expect(fd, b"heard SIGTSTP")
    time.sleep(0.2)
    check_runs(program, tare)
    os.write(fd, b"hello\n")
    expect(fd, b"read hello")
    finish(pid, fd, tare)


@case
def program_that_stops_itself(box):
    needs_exec()
    pid, fd, program, tare = start(box, job(box, "SIGCONT") + "; echo stopped $?; " + fg(box))
    os.kill(program, signal.SIGSTOP)
    expect(fd, b"stopped %d" % (128 + signal.SIGSTOP))
    check_stopped(program, tare)
    go(box)
    expect(fd, b"heard SIGCONT")
    check_runs(program, tare)
    finish(pid, fd, tare)


@case
def program_alone_goes_on(box):
    needs_exec()
    pid, fd, program, tare = start(box, job(box, "SIGCONT") + "; " + fg(box))
    os.kill(program, signal.SIGSTOP)
    check_stopped(program, tare)
    os.kill(program, signal.SIGCONT)
    check_runs(program, tare)
    expect(fd, b"heard SIGCONT")
    go(box)
    finish(pid, fd, tare)


@case
def tare_alone_is_signalled(box):
    """SIGTSTP and SIGCONT to tare are the program's; SIGSTOP is nobody's to pass on, and harms nothing."""
    needs_exec()
    pid, fd, program, tare = start(box, job(box, "SIGCONT") + "; " + fg(box))
    os.kill(tare, signal.SIGTSTP)
    check_stopped(program, tare)
    os.kill(tare, signal.SIGCONT)
    check_runs(program, tare)
    expect(fd, b"heard SIGCONT")
    os.kill(tare, signal.SIGSTOP)
    wait_for_state(tare, True)
    check(state(program) != "T", "the program was stopped with tare")
    os.kill(tare, signal.SIGCONT)
    wait_for_state(tare, False)
    go(box)
    finish(pid, fd, tare)


@case
def stopped_and_continued_quickly(box):
    """A SIGCONT that comes while tare is about to stop: in the end it runs."""
    needs_exec()
    running = box.start(tare_argv(*record_args([sys.executable, "-c", PROGRAM], sim=None)), stdin=subprocess.PIPE,
                        preexec_fn=lambda: os.setpgid(0, 0))
    program = int(running.stdout.readline().split()[1])
    for i in range(60):
        os.killpg(running.pid, signal.SIGSTOP) if i % 3 == 0 else os.kill(program, signal.SIGSTOP)
        time.sleep((i % 7) * 0.004)
        os.killpg(running.pid, signal.SIGCONT)
    check_runs(program, running.pid)
    out, err = running.communicate(b"hello\nquit\n", timeout=30)
    check_equal((out, running.returncode), (b"read hello\nover\n", 5), err.decode())


@case
def background_job_that_reads(box):
    """It is stopped by its terminal, and goes on in the foreground."""
    needs_exec()
    pid, fd, program, tare = start(box, job(box) + " & " + fg(box))
    os.write(fd, b"hello\n")
    check_stopped(program, tare)
    go(box)
    expect(fd, b"read hello")
    finish(pid, fd, tare)


@case
def keys_of_the_terminal(box):
    """Each once, though they go to the whole job; and a shell as the program has its own jobs."""
    needs_exec()
    pid, fd, _, tare = start(box, job(box, "SIGINT", "SIGQUIT") + "; echo code $?")
    for key, name in ((b"\x03", b"SIGINT"), (b"\x1c", b"SIGQUIT"), (b"\x03", b"SIGINT")):
        os.write(fd, key)
        seen = read_until(fd, b"heard " + name) + read_until(fd, b"heard", 0.1)
        check_equal(seen.count(b"heard"), 1, seen)
    finish(pid, fd, tare)


@case
def terminal_that_goes_away(box):
    """Where tare leads the session, only tare is told; the program must hear of it."""
    needs_exec()
    argv = tare_argv(*record_args(["/bin/sh", "-c", "echo $$; exec sleep 40"], sim=None))
    pid, fd = on_terminal(box, argv)
    program = int(read_until(fd, b"\n"))
    os.close(fd)
    check_equal(end_of(pid), 128 + signal.SIGHUP)
    check(not os.path.exists("/proc/%d" % program), "the program outlived its terminal")


@case
def program_that_leaves_the_group(box):
    """With a group of its own, which as the leader of the job it could not have: it is still the job."""
    needs_exec()
    script = "import os,time; os.setpgid(0,0); print('ready', flush=True); time.sleep(30)"
    running = box.start(tare_argv(*record_args([sys.executable, "-c", script], sim=None)),
                        preexec_fn=lambda: os.setpgid(0, 0))
    check_equal(running.stdout.readline(), b"ready\n")
    os.killpg(running.pid, signal.SIGTERM)
    running.communicate(timeout=30)
    check_equal(running.returncode, 128 + signal.SIGTERM)


main()
