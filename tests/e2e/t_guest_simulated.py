#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Law 3 on a simulated card: what a program prints, how it ends, what it leaves and whom it calls is as without Tare."""

import json
import os
import signal
import sys

from harness import BUILD, SIMGPU, WRAPPER, Skip, case, check, check_equal, check_says, fixture, main, needs_exec

TAKER = fixture("e2e_predict")
READER = fixture("e2e_read_back")
SOCKETS = os.path.join(BUILD, "tests", "e2e", "libe2e_sockets.so")

# What gives a program the simulated libraries without tare.
BY_HAND = {"LD_LIBRARY_PATH": SIMGPU + ":" + os.path.join(SIMGPU, "libs"), "TARE_SIM_PROFILE": "h100", "TARE_SIM_DIR": None}

# No GPU is in it: without Tare it does the same on any machine.
PROGRAM = ("import os, sys, tempfile\n"
           "print('out'); print('err', file=sys.stderr)\n"
           "print(sorted(os.listdir('.')), os.getcwd() == os.environ['HERE'], len(os.listdir('/proc/self/fd')) < 64)\n"
           "sys.stdout.flush(); sys.stderr.flush()\n"
           "code = sys.argv[1]\n"
           "os.kill(os.getpid(), int(code[1:])) if code[0] == 's' else sys.exit(int(code))\n")


def sim(box, argv, env=None, quiet=("--quiet",)):
    return box.tare("record", *quiet, "--sim", "h100", "-f", "-o", box.path("out", "run.tare"), "--", *argv, env=env)


def own_folders(box):
    """Empty folders for all that a program may leave something in, and what they hold then."""
    folders = [box.path(name) for name in ("here", "home", "tmp")]
    for folder in folders + [box.path("out")]:
        os.makedirs(folder, exist_ok=True)
    return folders, {"HOME": folders[1], "TMPDIR": folders[2], "HERE": box.dir}


def left(folders):
    return [os.path.join(top, name) for folder in folders for top, _, names in os.walk(folder) for name in names]


@case
def ends_and_prints_as_without(box):
    needs_exec()
    folders, env = own_folders(box)
    for code in ("0", "7", "255", "s%d" % signal.SIGTERM, "s%d" % signal.SIGKILL):
        argv = [sys.executable, "-c", PROGRAM, code]
        alone, done = box.run(argv, env=env), sim(box, argv, env=env)
        expected = alone.code if alone.code >= 0 else 128 - alone.code
        check_equal((done.code, done.out, done.err), (expected, alone.out, alone.err), code)
    check_equal(left(folders), [])


@case
def prints_what_it_prints_on_the_libraries_alone(box):
    """Of a program that uses the card: by hand, without the recorder; and not a word of ours on stderr."""
    needs_exec()
    own_folders(box)
    for argv in (READER + ["3", "2"], TAKER + ["100"], TAKER + ["100000"]):
        alone, done = box.run(argv, env=BY_HAND), sim(box, argv, env={"TARE_SIM_DIR": None})
        check_equal((done.code, done.out, done.err), (alone.code, alone.out, ""), argv)


@case
def leaves_no_file(box):
    needs_exec()
    folders, env = own_folders(box)
    env["TARE_SIM_DIR"] = None
    for argv in (READER + ["3", "2"], TAKER + ["100"]):
        check_equal(sim(box, argv, env=env).code, 0)
        check_equal(os.listdir(box.path("out")), ["run.tare"])
        with open(box.path("out", "run.tare", "recording.json"), encoding="utf-8") as file:
            state = json.load(file)["simulated_state"]
        check_equal(os.path.dirname(state), env["TMPDIR"])
        check(not os.path.exists(state), "the folder of the simulated machine is still there")
    check_equal(left(folders), [])


# Notes which folders it was given, runs a program that takes memory, and ends as it is told.
PREDICTED = ("import os, subprocess, sys\n"
             "print('out'); print('err', file=sys.stderr); sys.stdout.flush(); sys.stderr.flush()\n"
             "with open(os.environ['SEEN'], 'w') as file:\n"
             "    file.write(' '.join(os.environ.get(name, '') for name in ('TARE_SIM_DIR', 'TRITON_CACHE_DIR')))\n"
             "code, taken = sys.argv[1], subprocess.call(sys.argv[2:])\n"
             "os.kill(os.getpid(), int(code[1:])) if code[0] == 's' else sys.exit(int(code) or taken)\n")


@case
def a_prediction_leaves_nothing_and_says_nothing_of_its_own(box):
    """stderr is what the program prints, both its streams, and stdout is the prediction, also where it fails or does not fit."""
    needs_exec()
    folders, env = own_folders(box)
    env.update(TARE_SIM_DIR=None, SEEN=box.path("out", "seen"))
    for word, mib, code, says in (("0", "1", 0, "fits, needs"), ("7", "1", 1, "exit code 7"), ("0", "200000", 3, "does not fit"),
                                  ("s%d" % signal.SIGTERM, "1", 1, "exit code 143"), ("s%d" % signal.SIGKILL, "1", 1, "exit code 137")):
        program = [sys.executable, "-B", "-c", PREDICTED, word, *TAKER, mib]
        alone = box.run(program, env=dict(env, **BY_HAND))
        done = box.tare("predict", "--check-answers", "never", "--", *program, env=env)
        check_equal((done.code, sorted(done.err.splitlines())), (code, sorted((alone.out + alone.err).splitlines())), word, done)
        check_says(done.out.splitlines()[0], "NVIDIA H200 (simulated)", says)
        with open(env["SEEN"], encoding="utf-8") as file:
            given = file.read().split()
        check_equal([os.path.dirname(os.path.dirname(path) if "caches" in path else path) for path in given], [env["TMPDIR"]] * 2)
        check_equal([os.listdir(folder) for folder in folders], [[], [], []])


@case
def calls_nobody(box):
    """Neither tare nor what it puts into the program opens a socket of the network; one that the program opens is seen."""
    if WRAPPER:
        raise Skip("a library of this processor cannot be preloaded into the emulator")
    own_folders(box)
    env = {"LD_PRELOAD": SOCKETS, "SOCKETS": box.path("sockets")}
    for argv in (READER + ["3", "2"], TAKER + ["100"]):
        check_equal(sim(box, argv, env=env).code, 0)
        check_equal(box.tare("predict", "--", *argv, env=env).code, 0)
    check(not os.path.exists(box.path("sockets")), "a socket was opened")
    sim(box, [sys.executable, "-c", "import socket; socket.socket().close()"], env=env)
    check(os.path.exists(box.path("sockets")), "the test does not see sockets")


if __name__ == "__main__":
    main()
