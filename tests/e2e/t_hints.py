#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A slip of the hand is answered with what was meant, an instant behind the end with how long the recording is."""

import json

from harness import case, check, check_equal, check_says, fixture, main, needs_own_command


@case
def did_you_mean(box):
    box.record(fixture("e2e_phases"), rec="train.tare")
    for words, code, meant in (
            (["report", "train.tare", "--by", "lin"], 2, "line"),
            (["report", "train.tare", "--basline", "x"], 2, "--baseline"),
            (["report", "train.tare", "--at", "peek"], 2, "peak"),
            (["report", "train.tare", "--at", "phse:forward"], 2, "phase:forward"),
            (["report", "train.tare", "--at", "snapshto:1"], 2, "snapshot:1"),
            (["report", "train.tare", "--format", "jsn"], 2, "json"),
            (["report", "train.tare", "--by", "account", "--sort", "-byte"], 2, "bytes"),
            (["report", "trian.tare"], 125, "train.tare"),
            (["report", "train"], 125, "train.tare"),
            (["diff", "train.tare", "trin.tare"], 125, "train.tare"),
            (["ctl", "train.tare", "puase"], 2, "pause"),
            (["dump", "train.tare", "--kind", "evnt"], 2, "event"),
            (["help", "reprot"], 2, "report"),
            (["record", "--sim", "h20", "--", "true"], 2, "h200"),
            (["record", "--sim", "h200", "--card", "h20", "--", "true"], 2, "h200")):
        done = box.tare(*words)
        check_equal(done.code, code, done)
        check_says(done.err, "did you mean %s?" % meant)
    for words in (["report", "train.tare", "--by", "xyzzy"], ["report", "other.tare"],
                  ["report", "train.tare", "--at", "midnight"], ["ctl", "train.tare", "explode"]):
        check("did you mean" not in box.tare(*words).err, words)


@case
def a_command_that_is_none(box):
    needs_own_command()
    done = box.tare("repot", "train.tare")
    check_equal(done.code, 127, done)
    check_says(done.err, "repot: there is no such command", "did you mean tare report?")
    check("did you mean" not in box.tare("xyzzy").err)


@case
def an_instant_behind_the_end(box):
    box.record(fixture("e2e_phases"))
    last_ns = max(p["last_ns"] for p in json.loads(box.tare("info", "rec.tare", "--json").out)["processes"])
    for words in (["report", "rec.tare", "--at", "3000s"], ["diff", "rec.tare", "--at", "peak", "--at", "3000s"],
                  ["report", "rec.tare", "--by", "category", "--at", "3000s"]):
        done = box.tare(*words)
        check_equal(done.code, 125, done)
        check_says(done.err, "3000s: the recording is", "s long", "ask for", "end")
    check_equal(box.tare("report", "rec.tare", "--at", "%dns" % last_ns).code, 0)


main()
