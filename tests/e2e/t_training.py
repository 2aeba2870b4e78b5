#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The first step of training beside the others, and what the peak of tensors is a multiple of."""

import json
import os
import re

from harness import MIB, PYTHON, ROOT, case, check, check_equal, fixture, main, needs_torch

PROGRAM = os.path.join(ROOT, "tests", "e2e", "python", "categories.py")


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
        check("= %.1f × parameters + " % multiple in words and "of the batch" in words, text)
        for name, times in parts.items():
            check(re.search(r"^  %s +[0-9,.]+ +[0-9.]+ %% +█+ +%.1f × parameters$" % (name, times), text, re.M), name, text)
        below = text[text.index("training on"):text.index("of the batch")] + text[text.index("of the batch"):].split("\n\n")[0]
        check(max(map(len, below.splitlines())) <= 80, "wider than 80 columns", below)
        check("4 steps, by the optimizer" in words and "peak of tensors" in words, text)

    run.__name__ = "ratios_with_" + what
    case(run)


for each in (("adam", 4, {"gradient": 1, "optimizer state": 2}),
             ("momentum", 3, {"gradient": 1, "optimizer state": 1}),
             ("sgd", 2, {"gradient": 1})):
    define(*each)


@case
def steps_of_gradient_accumulation_are_the_optimizers(box):
    train(box, "accumulation")
    _, training = report(box)
    check_equal([(t["steps_by"], t["steps"]) for t in training], [("optimizer", 4)])
    check(abs(training[0]["most"]["parameters_ratio"] - 4) < .05, training)


@case
def steps_of_a_loop_without_modules(box):
    needs_torch()
    box.record([PYTHON, os.path.join(ROOT, "tests", "e2e", "python", "kept.py"), "by_hand", box.path("truth")], sim=None,
               env={"PYTHONDONTWRITEBYTECODE": "1"}, timeout=300)
    text, training = report(box)
    check("1 smaller" not in text, "a row of one has its name", text)
    check_equal([(t["steps_by"], t["steps"]) for t in training], [("backward", 12)])
    check(0 < training[0]["first"]["ns"] < 10**9, "from its first step, not from the import", training)


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


@case
def another_process_has_its_own(box):
    box.record(fixture("e2e_training"))
    pid = report(box)[1][0]["pid"]
    done = box.tare("report", "rec.tare", "--json", "--pid", str(pid))
    check_equal([t["pid"] for t in json.loads(done.out)["training"]], [pid])


main(checks_views=True)
