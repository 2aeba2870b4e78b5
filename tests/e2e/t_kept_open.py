#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A ledger that is kept open beside a program says at every moment what one that is begun anew says."""

import re
import subprocess
import time

from harness import WRAPPER, Skip, case, check, check_equal, fixture, main, record_args, tare_argv

TURNS = 32
TURN_S = 0.25
BEHIND_MS = 9000  # three to four seconds on a machine that has time for it; what stays behind is noticed after eight


class Beside:
    """A program that is led by lines, and a follower of its recording, which takes a turn for every line."""

    def __init__(self, box, program="e2e_steps", options=(), env=None):
        if WRAPPER:
            raise Skip("what an emulated program does takes too long to be followed")
        self.program = box.start(tare_argv(*record_args(fixture(program), options=options)), stdin=subprocess.PIPE, env=env)
        check_equal(self.program.stdout.readline(), b"ready\n")
        self.follower = box.start([fixture("e2e_live_ledger")[0], box.path("rec.tare")], stdin=subprocess.PIPE)

    def say(self, running, line):
        running.stdin.write(line)
        running.stdin.flush()

    def does(self, line):
        self.say(self.program, line)

    def turn(self):
        if self.follower.poll() is not None:
            check(False, "it ended:", self.follower.stdout.read().decode())
        self.say(self.follower, b"turn\n")
        time.sleep(TURN_S)

    def end(self):
        """How often the fold went on, began, and was compared; and how many ms it was behind at most."""
        output, _ = self.follower.communicate()
        check_equal(self.follower.returncode, 0, output.decode())
        self.program.communicate(b"quit\n")
        return [int(n) for n in re.findall(r"\d+", output.decode())]


def follow(box, lines, **more):
    """Says one of the lines at each turn."""
    both = Beside(box, **more)
    for i in range(TURNS):
        both.does(lines[i % len(lines)])
        both.turn()
    grown, begun, compared, behind_ms = both.end()
    check(behind_ms < BEHIND_MS, "behind", behind_ms)
    check(compared > TURNS // 2, "compared", compared, "began", begun)
    return grown, begun


@case
def calls_of_threads_that_come_and_go(box):
    grown, begun = follow(box, [b"alloc 3000000\n", b"threads 200\n", b"storm 300\n", b"free\n", b"events 500\n"])
    check(grown > 10 * begun, "went on", grown, "began", begun)


@case
def records_in_rows(box):
    """What a whole recording hands on many at once: blocks of two threads, phases, the heap."""
    lines = [b"blocks 900\n", b"phases 200\n", b"heap 300\n", b"blocks 3000\n"]
    grown, begun = follow(box, lines, program="e2e_led_blocks", options=("--host=full",))
    check(grown > 5 * begun, "went on", grown, "began", begun)


@case
def logs_of_many_files(box):
    """Rollups make segments of them meanwhile, and remove what is in these."""
    grown, begun = follow(box, [b"storm 2000\n", b"threads 400\n"], options=("--cap", "32MiB"), env={"TARE_TEST_CHUNK_BYTES": "65536"})
    check(grown > 5 * begun, "went on", grown, "began", begun)


@case
def children(box):
    """Each is a log of its own: all begins again with it."""
    follow(box, [b"alloc 2000000\n", b"fork 2\n", b"storm 100\n", b"events 100\n", b"storm 10\n", b"free\n"])


if __name__ == "__main__":
    main()
