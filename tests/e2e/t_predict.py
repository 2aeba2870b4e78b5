#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tare predict: what a program needs on cards that are not there, and tare run --sim CARD:N."""

import json
import shlex

from harness import MIB, case, check, check_equal, check_says, fixture, main, needs_exec


# A program of the CUDA runtime that takes as many MiB on each GPU as it is told.
TAKER = fixture("e2e_predict")


def predict(box, *args, code=0):
    needs_exec()
    done = box.tare("predict", *args)
    check_equal(done.code, code, done)
    return done


def of_card(box, *args, code=0):
    return json.loads(predict(box, "--json", *args, code=code).out)["cards"][0]



    """A program of the driver's interface that takes as many MiB as it is told."""
    return fixture("e2e_predict")


@case
def says_what_a_report_of_the_same_run_says(box):
    card = of_card(box, "--card", "h200", "--keep", box.path("kept"), "--", *TAKER, "1000")
    check_equal(card["recording"], box.path("kept/h200.tare"))
    report = json.loads(box.tare("report", card["recording"], "--json").out)["devices"][0]
    check_equal((card["need_bytes"], card["total_bytes"]), (report["need_bytes"], report["total_bytes"]))
    check(report["simulated"] and card["simulated"], card)
    check(card["fits"] and card["out_of_memory"] is None, card)
    check(card["low_bytes"] < card["need_bytes"] < card["high_bytes"], card)
    check_equal(card["room_bytes"], report["total_bytes"] - report["reserved_bytes"])


@case
def rises_by_what_the_program_takes(box):
    small, large = (of_card(box, "--", *TAKER, n)["need_bytes"] for n in ("100", "1100"))
    check_equal(large - small, 1000 * MIB)


@case
def says_where_memory_runs_out(box):
    done = predict(box, "--card", "h200", "--", *TAKER, "200000", code=3)
    check_says(done.out, "NVIDIA H200 (simulated)", "does not fit", "memory runs out", "200,000.0 MiB")
    card = of_card(box, "--card", "h200", "--", *TAKER, "200000", code=3)
    check(not card["fits"] and card["out_of_memory"]["bytes"] == 200000 * MIB, card)
    check(0 < card["out_of_memory"]["missing_bytes"] < 200000 * MIB, card)


@case
def finds_the_largest_that_fits(box):
    got = json.loads(predict(box, "--json", "--largest", "n=1..1000", "--", *TAKER, "{n}000").out)
    check_equal(got["largest"]["fits"] + 1, got["largest"]["fails"])
    check(140 <= got["largest"]["fits"] <= 143 and got["largest"]["runs"] <= 11, got["largest"])
    check(got["cards"][0]["fits"], got)
    none = json.loads(predict(box, "--json", "--largest", "n=500..600", "--", *TAKER, "{n}000", code=3).out)
    check_equal((none["largest"]["fits"], none["largest"]["fails"]), (None, 500))
    every = json.loads(predict(box, "--json", "--largest", "n=1..2", "--", *TAKER, "{n}").out)
    check_equal((every["largest"]["fits"], every["largest"]["fails"], every["largest"]["runs"]), (2, None, 1))


@case
def keeps_the_programs_output_out_of_its_own(box):
    done = predict(box, "--json", "--", "sh", "-c", "echo told; exec %s 1" % shlex.join(TAKER))
    json.loads(done.out)
    check_says(done.err, "told")


@case
def hands_on_how_the_program_ended(box):
    card = of_card(box, "--", "sh", "-c", "%s 1; exit 7" % shlex.join(TAKER))
    check_equal((card["exit_code"], card["fits"]), (7, True))
    check_says(predict(box, "--", "sh", "-c", "%s 1; exit 7" % shlex.join(TAKER)).out, "exit code 7")


@case
def two_cards_of_a_machine(box):
    needs_exec()
    done = box.tare("record", "--sim", "h200:2", "-o", box.path("two.tare"), "--", *TAKER, "1", "1")
    check_equal(done.code, 0, done)
    devices = json.loads(box.tare("report", box.path("two.tare"), "--json").out)["devices"]
    check_equal([d["index"] for d in devices], [0, 1])


@case
def mistakes(box):
    for args, words in ((("--card", "h300", "--", "true"), ("h300", "no such profile")),
                        (("--largest", "n=1..", "--", "true"), ("--largest n=1..", "batch=1..512")),
                        (("--largest", "n=9..1", "--", "true"), ("--largest n=9..1",)),
                        (("--largest", "n=1..2", "--", "true"), ("{n} is not in the command",)),
                        (("--gpus", "65", "--", "true"), ("--gpus",))):
        check_says(predict(box, *args, code=2).err, *words)
    check_says(predict(box, "--", "true", code=125).err, "used no GPU")
    check_says(predict(box, "--", box.path("nothing"), code=125).err, "could not be run")
    for sim in ("h200:0", "h200:65"):
        done = box.tare("record", "--sim", sim, "--", "true")
        check_equal(done.code, 2, done)
        check_says(done.err, sim, "1 to 64")


if __name__ == "__main__":
    main()
