#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Law 3 on a simulated card: what a program prints, how it ends, what it leaves and whom it calls is as without Tare."""

import json
import os
import signal
import sys

from harness import BUILD, WRAPPER, Skip, case, check, check_equal, fixture, main, needs_exec

TAKER = fixture("e2e_predict")
READER = fixture("e2e_read_back")
SOCKETS = os.path.join(BUILD, "tests", "e2e", "libe2e_sockets.so")

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
    libraries = os.path.join(BUILD, "simgpu")
    env = {"LD_LIBRARY_PATH": libraries + ":" + os.path.join(libraries, "libs"), "TARE_SIM_PROFILE": "h100", "TARE_SIM_DIR": None}
    own_folders(box)
    for argv in (READER + ["3", "2"], TAKER + ["100"], TAKER + ["100000"]):
        alone, done = box.run(argv, env=env), sim(box, argv, env={"TARE_SIM_DIR": None})
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
            check(not os.path.exists(json.load(file)["simulated_state"]), "the folder of the simulated machine is still there")
    check_equal(left(folders), [])


@case
def calls_nobody(box):
    """Neither tare nor what it puts into the program opens a socket of the network; one that the program opens is seen."""
    if WRAPPER:
        raise Skip("a library of this processor cannot be preloaded into the emulator")
    own_folders(box)
    env = {"LD_PRELOAD": SOCKETS, "SOCKETS": box.path("sockets")}
    for argv in (READER + ["3", "2"], TAKER + ["100"]):
        check_equal(sim(box, argv, env=env).code, 0)
    check(not os.path.exists(box.path("sockets")), "a socket was opened")
    sim(box, [sys.executable, "-c", "import socket; socket.socket().close()"], env=env)
    check(os.path.exists(box.path("sockets")), "the test does not see sockets")


if __name__ == "__main__":
    main()
