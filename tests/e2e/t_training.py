#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The first step of training beside the others, and what the peak of tensors is a multiple of."""

import json
import os
import signal

from harness import (IS_LONG, MIB, PYTHON, ROOT, case, check, check_equal, fixture, main, needs_torch, record_args,
                     tare_argv)

PROGRAM = os.path.join(ROOT, "tests", "e2e", "python", "categories.py")
THREADS = os.path.join(ROOT, "tests", "e2e", "python", "threads.py")


def train(box, what):
    needs_torch()
    env = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": os.path.join(ROOT, "python")}
    box.record([PYTHON, PROGRAM, what, box.path("truth")], sim=None, env=env, timeout=300)


def report(box):
    """The text, and what scripts read."""
    text, done = box.tare("report", "rec.tare"), box.tare("report", "rec.tare", "--json")
    check_equal((text.code, done.code), (0, 0), text, done)
    return text.out, json.loads(done.out)["training"]


def define(what, multiple, parts):
    def run(box):
        train(box, what)
        text, training = report(box)
        check_equal(len(training), 1, training)
        one = training[0]
        check_equal((one["device"], one["steps_by"], one["steps"]), (None, "optimizer", 4))
        check(abs(one["most"]["parameters_ratio"] - multiple) < .05, one["most"])
        check_equal(one["most"]["bytes"], one["first"]["peak_tensor_bytes"] if what == "sgd"
                    else one["steady"]["peak_tensor_bytes"], one)
        most = one["most"]
        check(abs(multiple * most["parameter_bytes"] + most["batch_bytes"] + most["other_bytes"] - most["bytes"])
              < .05 * most["parameter_bytes"], most)
        check(0 < one["steady"]["ns"] and 0 < one["first"]["ns"] and one["first"]["driver_ns"] is None, one)
        words = " ".join(text.split())
        check("= %.1f × parameters (%s)" % (multiple, parts) in words and "of the batch" in words, text)
        check("4 steps, by the optimizer" in words and "peak of tensors" in words, text)

    run.__name__ = "ratios_with_" + what
    case(run)


for each in (("adam", 4, "parameter 1.0, gradient 1.0, optimizer state 2.0"),
             ("momentum", 3, "parameter 1.0, gradient 1.0, optimizer state 1.0"),
             ("sgd", 2, "parameter 1.0, gradient 1.0")):
    define(*each)


@case
def steps_of_gradient_accumulation_are_the_optimizers(box):
    train(box, "accumulation")
    _, training = report(box)
    check_equal([(t["steps_by"], t["steps"]) for t in training], [("optimizer", 4)])
    check(abs(training[0]["most"]["parameters_ratio"] - 4) < .05, training)


@case
def inference_has_no_steps(box):
    train(box, "inference")
    text, training = report(box)
    check_equal(training, [])
    check("training on" not in text, text)


@case
def phases_that_are_called_steps(box):
    box.record(fixture("e2e_training"))
    text, training = report(box)
    check_equal(len(training), 1, training)
    one, first, steady = training[0], training[0]["first"], training[0]["steady"]
    check_equal((one["device"], one["steps_by"], one["steps"]), (0, "phases", 6))
    check_equal((first["allocations"], first["allocated_bytes"], first["refused"]), (2, 22 * MIB, 1))
    check_equal((steady["allocations"], steady["allocated_bytes"], steady["refused"]), (0, 0, 0))
    check(first["driver_ns"] > 0 and first["ns"] > first["driver_ns"] and steady["driver_ns"] == 0, one)
    check_equal((first["peak_tensor_bytes"], steady["peak_tensor_bytes"]), (17 * MIB, 13 * MIB))
    check_equal(first["peak_used_bytes"], steady["peak_used_bytes"])
    check_equal(one["most"], None)  # no parameters: there is nothing to be a multiple of
    check("6 steps, by phases" in text and "× parameters" not in text, text)


@case
def one_step_is_too_few(box):
    box.record(fixture("e2e_training", "few"))
    text, training = report(box)
    check_equal(training, [])
    check("training on" not in text, text)


def threads(box, *args):
    needs_torch()
    box.record([PYTHON, THREADS] + list(args), sim=None, options=("-f",), timeout=300)
    return report(box)


def at_the_peak(box):
    """category → bytes."""
    done = box.tare("report", "rec.tare", "--by", "category", "--at", "peak", "--json")
    check_equal(done.code, 0, done)
    return {row["label"]: row["bytes"] for row in json.loads(done.out)["rows"]}


@case
def threads_have_steps_and_categories_of_their_own(box):
    for _ in range(5):
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
    return len(seen), report(box)[1]


@case
def killed_at_any_time_it_has_the_steps_that_it_made(box):
    needs_torch()
    for number in range(6 if not IS_LONG else 60):
        optimizer, count = (("adam", 4), ("sgd", 3))[number % 2]
        said, training = killed(box, optimizer, count, number)
        check_equal(len(training), 1, training)
        check(said <= training[0]["steps"] <= said + count, said, training)
        found = at_the_peak(box)
        check_equal(found["parameter"], count * MIB, found)
        check(found["gradient"] <= count * MIB, found)
        check(abs(found.get("optimizer state", 0) - (2 * count * MIB if optimizer == "adam" else 0)) < 1024, found)


@case
def another_process_has_its_own(box):
    box.record(fixture("e2e_training"))
    pid = report(box)[1][0]["pid"]
    done = box.tare("report", "rec.tare", "--json", "--pid", str(pid))
    check_equal([t["pid"] for t in json.loads(done.out)["training"]], [pid])


main()
