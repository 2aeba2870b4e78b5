#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Java: Peer.java under each collector, and with the interpreter only."""

import os

import program

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Peer.java")
MACHINES = {"serial": ["-XX:+UseSerialGC"], "parallel": ["-XX:+UseParallelGC"], "g1": ["-XX:+UseG1GC"],
            "z": ["-XX:+UseZGC"], "shenandoah": ["-XX:+UseShenandoahGC"], "interpreted": ["-Xint"],
            "checks_jni": ["-Xcheck:jni"]}


def tests(wanted):
    yield "javac", program.outcome_of(["javac", "-d", ".", SOURCE], lambda text: "")
    for machine, options in MACHINES.items():
        if program.is_wanted(machine, wanted):
            for name, outcome in program.lines_of(["java", "-Xmx256m"] + options + ["-cp", ".", "Peer"]):
                yield "%s.%s" % (machine, name), outcome


program.run({"default-jdk-headless": "javac"}, tests)
