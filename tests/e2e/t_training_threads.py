#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training on several threads, its last step, and what is known of both when it is killed."""

import json
import os
import signal

from harness import IS_LONG, MIB, PYTHON, ROOT, case, check, check_equal, main, needs_torch, record_args, tare_argv

THREADS = os.path.join(ROOT, "tests", "e2e", "python", "threads.py")


def trainings(box):
    done = box.tare("report", "rec.tare", "--json")
    check_equal(done.code, 0, done)
    return json.loads(done.out)["training"]


def threads(box, *args):
    needs_torch()
    box.record([PYTHON, THREADS] + list(args), sim=None, options=("-f",), timeout=300)
    return box.tare("report", "rec.tare").out, trainings(box)


def at_the_peak(box):
    """category → bytes."""
    done = box.tare("report", "rec.tare", "--by", "category", "--at", "peak", "--json")
    check_equal(done.code, 0, done)
    return {row["label"]: row["bytes"] for row in json.loads(done.out)["rows"]}


@case
def threads_have_steps_and_categories_of_their_own(box):
    for _ in range(20 if IS_LONG else 3):
        text, training = threads(box, "adam", "4", "8")
        check_equal([(t["steps_by"], t["steps"], t["steps_of_threads"]) for t in training],
                    [("optimizer", 32, [8, 8, 8, 8])])
        check("· 4 × 8 steps, by the optimizer" in text, text)
        found = at_the_peak(box)
        check_equal(found["parameter"], 4 * MIB, found)
        check(abs(found["optimizer state"] - 8 * MIB) < 1024, found)  # and counts of steps
        check_equal(found["gradient"] % MIB, 0, found)
        check(found["gradient"] <= 4 * MIB, found)
        check("buffer/state" not in found, found)


@case
def threads_without_state_have_them_too(box):
    _, training = threads(box, "sgd", "3", "5")
    check_equal([t["steps_of_threads"] for t in training], [[5, 5, 5]])
    found = at_the_peak(box)
    check_equal(found["parameter"], 3 * MIB, found)
    check(found["gradient"] <= 3 * MIB and "optimizer state" not in found, found)


@case
def as_many_steps_as_there_were(box):
    for optimizer in ("adam", "sgd"):
        for steps in (2, 3):
            text, training = threads(box, optimizer, "1", str(steps))
            check_equal([t["steps"] for t in training], [steps])
            check("%d steps, by " % steps in text, text)
            check(("THE OTHER" if steps == 2 else "MEDIAN OF OTHERS") in text, text)


def killed(box, optimizer, count, number):
    """How many steps the program said that it had made, and those of the recording."""
    running = box.start(tare_argv(*record_args([PYTHON, THREADS, optimizer, str(count), "1000", "slow"],
                                               sim=None, options=("-f",))))
    seen = [running.stdout.readline() for _ in range(count * 3 + number)]
    check(all(seen), seen)
    with open("/proc/%d/task/%d/children" % (running.pid, running.pid), encoding="utf-8") as text:
        os.kill(int(text.read().split()[0]), signal.SIGKILL)
    seen += running.stdout.readlines()
    running.communicate()
    check_equal(running.returncode, 128 + signal.SIGKILL)
    return len(seen), trainings(box)


@case
def killed_at_any_time_it_has_the_steps_that_it_made(box):
    needs_torch()
    for number in range(60 if IS_LONG else 4):
        optimizer, count = (("adam", 4), ("sgd", 3))[number % 2]
        said, training = killed(box, optimizer, count, number)
        check_equal(len(training), 1, training)
        check(said <= training[0]["steps"] <= said + count, said, training)
        found = at_the_peak(box)
        check_equal(found["parameter"], count * MIB, found)
        check(found["gradient"] <= count * MIB, found)
        check(abs(found.get("optimizer state", 0) - (2 * count * MIB if optimizer == "adam" else 0)) < 1024, found)


main()
