#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records one fixture on the simulated GPU and compares the ledger with what the fixture printed.

    run.py [--exit CODE] [--env NAME=VALUE]… [--sim PROFILE] [--varies] [--native] FIXTURE [ARG]…

--native: starts programs or uses the driver in a forked child, which an emulator cannot do.
--varies: what it prints depends on the order of its threads, so two runs are not compared.
"""

import argparse

from harness import case, check_equal, check_recording, fixture, main, needs_exec, run_lines


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--exit", type=int, default=0)
    parser.add_argument("--env", action="append", default=[])
    parser.add_argument("--sim", default="h200")
    parser.add_argument("--varies", action="store_true")
    parser.add_argument("--native", action="store_true")
    parser.add_argument("fixture", nargs=argparse.REMAINDER)
    return parser.parse_args()


ARGS = arguments()
ENV = dict(item.split("=", 1) for item in ARGS.env)


@case
def ledger_is_what_the_fixture_expects(box):
    if ARGS.native:
        needs_exec()
    done = box.record(fixture(*ARGS.fixture), sim=ARGS.sim, env=ENV, exit_code=ARGS.exit)
    check_recording(box, done)


def output_is_the_same_without_tare(box):
    """Pids and addresses apart, a program does and prints the same."""
    if ARGS.native:
        needs_exec()
    done = box.record(fixture(*ARGS.fixture), sim=ARGS.sim, env=ENV, exit_code=ARGS.exit)
    alone = box.run(fixture(*ARGS.fixture), sim=True, env=ENV)
    check_equal(alone.code if alone.code >= 0 else 128 - alone.code, done.code, alone)
    check_equal(run_lines(done.out), run_lines(alone.out))


if not ARGS.varies:
    case(output_is_the_same_without_tare)
main(["run.py"])
