#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/clean.py: whatever the caller left behind, a test sees the same."""

import json
import os
import signal
import subprocess
import sys

from harness import ROOT, Missing, case, check, check_equal, check_says, main

CLEAN = os.path.join(ROOT, "tests", "clean.py")
SEEN = """
import json, os, signal
umask = os.umask(0)
print(json.dumps({
    "ignored": [n for n in map(int, signal.valid_signals()) if signal.getsignal(n) == signal.SIG_IGN],
    "blocked": sorted(map(int, signal.pthread_sigmask(signal.SIG_BLOCK, ()))),
    "umask": umask,
    "stdin": os.read(0, 1).decode(),
    "open": [n for n in range(3, 64) if os.path.exists("/proc/self/fd/%d" % n)],
    "environment": dict(os.environ),
}))
"""
PYTHON_IGNORES = {signal.SIGPIPE, signal.SIGXFSZ}  # by itself, as it starts


def seen(box, prepare, env, stdin):
    """What a command sees of its surroundings; its caller, a shell that `prepare` started, sets OWN for it."""
    script = "OWN=own %s %s -c '%s'; exit $?" % (CLEAN, sys.executable, SEEN)
    with open(box.path("said"), "wb+") as said:
        done = subprocess.run(["/bin/sh", "-c", script], stdout=said, env=env, stdin=stdin, check=False,
                              preexec_fn=prepare, close_fds=False)
        check_equal(done.returncode, 0)
        said.seek(0)
        return json.loads(said.read().decode())


def leave_nothing_as_it_was():
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGPIPE, signal.SIGCHLD, signal.SIGTERM, signal.SIGQUIT,
                   signal.SIGUSR1, signal.SIGALRM, signal.SIGTSTP, signal.SIGRTMIN):
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTERM, signal.SIGCHLD, signal.SIGSEGV))
    os.umask(0o077)
    os.dup2(1, 40)
    os.close(0)


@case
def surroundings_are_the_same(box):
    ordinary = seen(box, lambda: None, dict(os.environ), subprocess.DEVNULL)
    check_equal(set(ordinary["ignored"]) - PYTHON_IGNORES, set())
    check_equal((ordinary["blocked"], ordinary["umask"], ordinary["stdin"], ordinary["open"]), ([], 0o022, "", []))
    odd = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "COLUMNS": "20", "PYTHONOPTIMIZE": "2",
           "TARE_RECORDING": "/of/another", "TARE_TEST_LONG": "1", "LC_ALL": "tr_TR.UTF-8", "TERM": "xterm",
           "POSIXLY_CORRECT": "1"}
    again = seen(box, leave_nothing_as_it_was, odd, None)
    for name in ("COLUMNS", "PYTHONOPTIMIZE", "TARE_RECORDING", "POSIXLY_CORRECT"):
        check(name not in again["environment"], name)
    check_equal({again["environment"].get(name) for name in ("OWN", "TARE_TEST_LONG")}, {"own", "1"})
    check_equal({key: again[key] for key in again if key != "environment"},
                {key: ordinary[key] for key in ordinary if key != "environment"})


@case
def nothing_at_all_is_enough(box):
    env = seen(box, leave_nothing_as_it_was, {}, None)["environment"]
    check_equal((env["LC_ALL"], env["TERM"]), ("C.UTF-8", "dumb"))
    check(os.path.isdir(env["HOME"]) and "/usr/bin" in env["PATH"], env)


RACE = """
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static int shared;
static void *add(void *arg) { for (int i = 0; i < 1000; i++) shared++; return arg; }
int main(int argc, char **argv)
{
	pthread_t thread;
	if (argc > 1 && fork() == 0) {
		pthread_create(&thread, 0, add, 0);
		add(0);
		pthread_join(thread, 0);
		_exit(0); /* which ThreadSanitizer makes another code of, and nobody looks */
	}
	wait(0);
	return argv[0] == 0;
}
"""


@case
def a_race_in_a_child_fails_its_test(box):
    with open(box.path("race.c"), "w", encoding="utf-8") as text:
        text.write(RACE)
    built = box.run([os.environ.get("CC", "cc"), "-g", "-fsanitize=thread", "-o", box.path("race"), box.path("race.c"),
                     "-lpthread"])
    if built.code or box.run([box.path("race")]).code:
        raise Missing("libtsan")
    races = os.path.join(ROOT, "tests", "races.py")
    check_equal(box.run([box.path("race"), "child"]).code, 0)
    check_equal(box.run([races, box.path("race")]).code, 0)
    done = box.run([races, box.path("race"), "child"])
    check_equal(done.code, 66, done)
    check_says(done.out, "data race", "add race.c")
    check_equal(box.run([races, "false"]).code, 1)


main()
