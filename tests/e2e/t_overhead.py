#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/gpu/overhead.sh: that it measures, on the CPU; what it measures is for a machine with nothing else to do."""

import json
import os
import random
import shutil
import subprocess
import sys

from harness import BUILD, ROOT, WRAPPER, Skip, case, check, check_equal, main, needs_torch

sys.path.insert(0, os.path.join(ROOT, "tests", "gpu", "overhead"))
import estimate  # noqa: E402

SCRIPT = os.path.join(ROOT, "tests", "gpu", "overhead.sh")
PYTHON = "/usr/bin/python3"


def steps(seed, effect):
    """A coin, and steps that drift, are late at times, and take so much longer where it shows heads."""
    toss = random.Random(seed)
    coins = [toss.random() < 0.5 for _ in range(4000)]
    times = [(1 + effect * coin) * (1 + i / 4000) * toss.gauss(1, 0.05) * (5 if toss.random() < 0.05 else 1)
             for i, coin in enumerate(coins)]
    return coins, times


def needs_own_interpreter():
    if WRAPPER:
        raise Skip("an interpreter of this machine cannot be recorded by a recorder for another")


@case
def intervals_hold_what_is_true(box):
    """19 of 20 are to; so of 200 rarely fewer than 180."""
    held = 0
    for seed in range(50):
        for effect in (0, 0.02):
            coins, times = steps(seed, effect)
            shares = estimate.shares_of_neighbours(times)
            middle, half = estimate.effect(shares, coins)
            held += abs(middle - 100 * effect) <= half
            check(half < 0.5, "seed %d: an interval of %.2f" % (seed, half))
            middle, half = estimate.effect(shares, steps(seed + 1000, 0)[0])
            held += abs(middle) <= half
    check(180 <= held < 200, "%d of 200 intervals hold what is true" % held)


@case
def the_harness_measures(box):
    needs_own_interpreter()
    needs_torch()
    for folder, name in (("bin", "tare"), ("lib/tare", "src/recorder/libtare_recorder.so")):
        os.makedirs(box.path("dist/" + folder))
        shutil.copy(os.path.join(BUILD, name), box.path("dist/" + folder))
    env = dict(os.environ, PYTHON=PYTHON, SECONDS_EACH="8", TURNS="1", TURN_SECONDS="0.1")
    done = subprocess.run([SCRIPT, box.path("dist"), box.path("out"),
                           os.path.join(BUILD, "src/recorder/libtare_recorder_cost.so"), "small_decode"],
                          env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = done.stdout.decode()
    check_equal(done.returncode, 0, said)
    with open(box.path("out/overhead.jsonl")) as file:
        rows = {row["what"]: row for row in map(json.loads, file)}
    check_equal(sorted(rows), ["coin", "cost", "loaded", "plain"], said)
    on, off = rows["cost"]["on"], rows["cost"]["off"]
    # Two blocks and more in each of two layers; as many with the recorder off, where each takes less.
    check(on["handed_out"]["times"] > 20, on)
    check(abs(on["handed_out"]["times"] - off["handed_out"]["times"]) < 3, (on, off))
    check(0 < off["handed_out"]["ns"] < on["handed_out"]["ns"], (on, off))
    check("| a small GPT, decode of one token |" in said, said)


@case
def only_a_test_can_switch_it(box):
    needs_own_interpreter()
    text = "import ctypes; print(ctypes.CDLL(None).tare_test_nop(1))"
    for nop, answer in ((None, "-1"), ("switch", "0")):
        done = box.record([PYTHON, "-c", text], rec="rec-%s.tare" % nop, env={"TARE_TEST_NOP": nop} if nop else {})
        check_equal(done.out.strip(), answer)


main()
