#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A command that is ended by a signal takes the folders away that it made for itself."""

import os
import signal
import subprocess

from harness import PATIENCE, case, check, check_equal, main, needs_exec, tare_argv, wait_until

WAIT = "env >env.new; mv env.new env; exec sleep 60"


def variables(box):
    """What the program was told, once it is there."""
    path = os.path.join(box.dir, "env")
    wait_until(lambda: os.path.exists(path), "the program does not begin")
    with open(path, encoding="utf-8") as file:
        found = dict(line.rstrip("\n").split("=", 1) for line in file if "=" in line)
    os.unlink(path)
    return found


def folders_of(told, command):
    """Those that the command made: the simulated machine's, and of predict its recording's and its caches'."""
    made = [told["TARE_SIM_DIR"]]
    if command == "predict":
        made += [os.path.dirname(told["TRITON_CACHE_DIR"]),
                 os.path.dirname(next(told[name] for name in told if "tare-predict-" in told[name] and ".tare" in told[name]))]
    check(all(os.path.isdir(path) for path in made), made)
    return made


def end(running, number, is_of_group):
    if is_of_group:
        os.killpg(running.pid, number)
    else:
        running.send_signal(number)
    running.communicate(timeout=2 * PATIENCE)
    return running.returncode


@case
def predict_and_run(box):
    needs_exec()
    ways = {"predict": ["predict", "--card", "h200"], "run": ["run", "--sim", "h200", "-f", "-o", "rec.tare"]}
    for command, words in ways.items():
        for number, is_of_group in ((signal.SIGINT, True), (signal.SIGTERM, False)):
            running = box.start(tare_argv(*words, "--", "sh", "-c", WAIT), start_new_session=True,
                                env={"TARE_SIM_DIR": None})
            made = folders_of(variables(box), command)
            code = end(running, number, is_of_group)
            check_equal(code, 128 + number if command == "run" else -number, command)
            check(not any(os.path.exists(path) for path in made), "left behind", command, number, made)


MASSIF = b"""desc: --time-unit=ms
cmd: ./a
time_unit: ms
""" + 3000 * b"""#-----------
snapshot=0
#-----------
time=0
mem_heap_B=0
mem_heap_extra_B=0
mem_stacks_B=0
heap_tree=empty
"""


@case
def half_of_an_import(box):
    needs_exec()
    running = box.start(tare_argv("import", "-o", "half.tare", "-"), stdin=subprocess.PIPE)
    running.stdin.write(MASSIF)
    running.stdin.flush()
    wait_until(lambda: os.path.exists(os.path.join(box.dir, "half.tare")), "the import does not begin")
    check_equal(end(running, signal.SIGTERM, False), -signal.SIGTERM)
    check(not os.path.exists(os.path.join(box.dir, "half.tare")), "half of a recording is there")


main()
