#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Node: peer.js, as it is and with options of V8 that change what code it makes."""

import os

import program

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peer.js")
MACHINES = {"plain": [], "interpreted": ["--jitless"], "collecting": ["--stress-compaction", "--max-old-space-size=256"],
            "one_thread": ["--single-threaded"]}


def tests(wanted):
    for machine, options in MACHINES.items():
        if program.is_wanted(machine, wanted):
            for name, outcome in program.lines_of(["node"] + options + [SOURCE]):
                yield "%s.%s" % (machine, name), outcome


program.run({"nodejs": "node"}, tests)
