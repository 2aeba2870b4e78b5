# SPDX-License-Identifier: Apache-2.0
"""Steps of one workload, timed; prints one line of JSON.

    measure.py coin WORKLOAD SECONDS     recorded with TARE_TEST_NOP=switch: a coin says for each step whether it is
                                         recorded; a second coin has no effect (the control)
    measure.py cost WORKLOAD SECONDS     the same with a recorder that counts its own time
    measure.py loaded WORKLOAD SECONDS   recorded with TARE_TEST_NOP=1: the median step
    measure.py plain WORKLOAD SECONDS    not recorded: the same

A step ends when the GPU has done it. With APART=1 the program keeps off the first CPU, which is then tare's.
"""

import ctypes
import json
import os
import random
import statistics
import sys
import time

if os.environ.get("APART"):
    os.sched_setaffinity(0, range(1, os.cpu_count()))  # before torch counts CPUs

import torch

import estimate
import workloads

WARM, LEAST, ENOUGH, LOOK = 40, 500, 4000, 250
PRECISE = 0.25  # per cent, half of an interval: then fewer steps do
KINDS = ("handed_out", "taken_back", "launches", "calls")


class Switch:
    """Whether steps are recorded."""

    def __init__(self):
        recorder = ctypes.CDLL(None)
        try:
            self.set_nop = recorder.tare_test_nop
        except AttributeError:
            raise SystemExit("measure.py: this process is not recorded")
        if self.set_nop(0) != 0:
            raise SystemExit("measure.py: TARE_TEST_NOP is not switch")

    def turn(self, is_on):
        self.set_nop(not is_on)


class Cost:
    """What the recorder counted of itself in each step, with heads and with tails."""

    def __init__(self):
        self.recorder = ctypes.CDLL(None)
        self.recorder.tare_cost_read.restype = self.recorder.tare_cost_of_nothing.restype = ctypes.c_uint64
        self.out = (ctypes.c_uint64 * (3 * len(KINDS)))()
        self.steps = {True: [], False: []}
        self.last = self.read()
        self.begin = self.recorder.tare_cost_read(self.out), time.perf_counter_ns()

    def read(self):
        self.recorder.tare_cost_read(self.out)
        return list(self.out)

    def step(self, is_on):
        now = self.read()
        self.steps[is_on].append([b - a for a, b in zip(self.last, now)])

    def per_step(self, is_on):
        ticks, ns = self.recorder.tare_cost_read(self.out), time.perf_counter_ns()
        per_tick = (ns - self.begin[1]) / (ticks - self.begin[0])
        nothing = min(self.recorder.tare_cost_of_nothing() for _ in range(100)) / 100
        found = {}
        for i, kind in enumerate(KINDS):
            ticks = [step[3 * i] - nothing * step[3 * i + 2] for step in self.steps[is_on]]
            found[kind] = {"times": statistics.mean(step[3 * i + 1] for step in self.steps[is_on]),
                           "ns": estimate.trimmed(ticks)[0] * per_tick}
        return found


def run(step, device):
    begin = time.perf_counter_ns()
    step()
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter_ns() - begin


def toss(step, device, seconds, cost):
    switch, until = Switch(), time.monotonic() + seconds
    times, coins, controls, found = [], [], [], None
    while len(times) < ENOUGH and time.monotonic() < until:
        coins.append(random.random() < 0.5)
        controls.append(random.random() < 0.5)
        switch.turn(coins[-1])
        if cost:
            cost.last = cost.read()
        times.append(run(step, device))
        if cost:
            cost.step(coins[-1])
        if len(times) >= LEAST and len(times) % LOOK == 0 and not cost:
            found = estimate.effect(estimate.shares_of_neighbours(times), coins)
            if found[1] <= PRECISE:
                break
    switch.turn(True)
    if min(sum(coins), len(coins) - sum(coins)) < 10:
        raise SystemExit("measure.py: %d steps in %g s are too few" % (len(times), seconds))
    return times, coins, controls


def tossed(step, device, seconds, cost):
    times, coins, controls = toss(step, device, seconds, cost)
    shares = estimate.shares_of_neighbours(times)
    found = {"steps": len(times), "step_ns": statistics.median(t for t, c in zip(times, coins) if not c),
             "effect": estimate.effect(shares, coins), "control": estimate.effect(shares, controls)}
    if cost:
        found["on"], found["off"] = cost.per_step(True), cost.per_step(False)
    return found


def in_turn(step, device, seconds):
    until, times = time.monotonic() + seconds, []
    while len(times) < 10 or (len(times) < ENOUGH and time.monotonic() < until):
        times.append(run(step, device))
    return {"steps": len(times), "step_ns": statistics.median(times)}


def main():
    what, name, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cpu":
        torch.set_num_threads(1)
    step = workloads.make(name, device)
    for _ in range(WARM):
        run(step, device)
    found = {"what": what, "workload": name, "title": workloads.ALL[name][1], "device": device}
    if what in ("loaded", "plain"):
        found.update(in_turn(step, device, seconds))
    else:
        found.update(tossed(step, device, seconds, Cost() if what == "cost" else None))
    print(json.dumps(found))


main()
