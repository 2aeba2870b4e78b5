#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tare plan: what fits on a card, what is best there, and what does not fit."""

import json
import os
import re

from harness import MIB, ROOT, case, check, check_equal, check_says, main, needs_exec
from sweeps import cell, query, sweep

TABLE = ("batch,precision,peak_mib,seconds\n" +
         "".join("%d,%s,%d,%g\n" % (b, p, 600 + b * k, 0.5 + b * s)
                 for b in (1, 2, 3, 4) for p, k, s in (("fp16", 400, 0.1), ("fp32", 800, 0.15))))


def plan(box, *args, code=0):
    done = box.tare("plan", *args, "--json")
    check_equal(done.code, code, done)
    return json.loads(done.out)


def write_table(box, text=TABLE):
    with open(box.path("runs.csv"), "w", encoding="utf-8") as file:
        file.write(text)
    return [box.path("runs.csv"), "-t", "peak_mib", "-p", "batch,precision"]


@case
def best_of_a_table(box):
    table = write_table(box)
    got = plan(box, *table, "--vram", "5000MiB", "-m", "{batch}/{seconds}")
    check_equal(got["best"]["params"]["precision"], "fp16")
    check(9 <= int(got["best"]["params"]["batch"]) <= 11 and not got["best"]["measured"], got["best"])
    check(got["best"]["high"] <= got["room_bytes"] == 5000 * MIB, got)
    first = got["first_that_does_not"]
    check(first["high"] > got["room_bytes"] and first["worth"] > got["best"]["worth"], first)
    got = plan(box, *table, "--vram", "2GiB", "--used", "400MiB", "-m", "0-{seconds}")
    check_equal((got["best"]["params"], got["best"]["measured"]), ({"batch": "1", "precision": "fp16"}, True))
    check_equal(got["best"]["bytes"], 1000 * MIB)
    check_equal(got["room_bytes"], (2048 - 400) * MIB)
    check_equal(got["configuration"], "batch=1\nprecision=fp16")
    done = box.tare("plan", *table, "--vram", "5000MiB")
    check_says(done.out, "Best that fits:", "predicted", "to spare", "The next that does not:", "too much", "batch=")


@case
def what_is_beyond_is_named(box):
    with open(box.path("t.csv"), "w", encoding="utf-8") as file:
        file.write("batch,seq,need_mib\n" + "".join("%d,%d,%g\n" % (b, s, 500 + 4 * b + 0.1 * s + 0.002 * b * s)
                                                   for b in (1, 2, 4) for s in (128, 256, 512, 1024)))
    done = box.tare("plan", box.path("t.csv"), "--target", "need_mib", "--params", "batch,seq", "--vram", "720MiB")
    check_says(done.out, "seq 2 times beyond what was measured")


@case
def nothing_fits(box):
    got = plan(box, *write_table(box), "--vram", "500MiB", code=3)
    check_equal((got["best"], got["configuration"]), (None, None))
    check_equal(got["first_that_does_not"]["bytes"], 1000 * MIB)
    check_equal(got["first_that_does_not"]["margin"], -500 * MIB)


@case
def best_of_a_sweep(box):
    needs_exec()
    sweep(box, "--vram", "900MiB", "--grid", "mib=32,64,128,256,512", command=cell("mib={mib}"))
    check_equal([row[0] for row in query(box, "SELECT status FROM results")], ["ok"] * 4 + ["oom"])
    base = query(box, "SELECT min(need) FROM runs WHERE status='ok'")[0][0] - 32 * MIB
    got = plan(box, box.path("t.db"), "--vram", "900MiB")
    best, first = got["best"], got["first_that_does_not"]
    truth = base + int(best["params"]["mib"]) * MIB
    check(best["low"] <= truth <= best["high"] <= 900 * MIB, best, truth)
    check(best["account"] and best["account_bytes"] > 0, best)
    check(first["bytes"] > best["bytes"], first)
    ran_out = query(box, "SELECT label FROM runs JOIN cells USING(cell) WHERE status='oom'")
    check_equal(ran_out, [("mib=512",)])
    check(int(best["params"]["mib"]) < 512, best)
    done = box.tare("plan", box.path("t.db"), "--vram", "1GiB", "-t", "seconds")
    check_equal((done.code, done.out), (2, ""), done)
    check_says(done.err, '"seconds" is no memory')
    card = plan(box, box.path("t.db"), "--card", "h200")
    check_equal(card["context_change_bytes"], 0)
    check(card["room_bytes"] > 130 << 30, card)


@case
def mistakes(box):
    table = write_table(box)
    for args, says in ((table, "--vram or --card"),
                       (table + ["--vram", "1GiB", "--card", "h200"], "--vram or --card"),
                       (table[:1] + ["--vram", "1GiB"], "--target"),
                       (table + ["--vram", "1GiB", "-m", "{batch"], "--maximize"),
                       (table + ["--vram", "1GiB", "-m", "{nothing}"], "nothing"),
                       (table + ["--vram", "1GiB", "--used", "much"], "--used much"),
                       (table + ["--vram", "0"], "more than 0"),
                       (table + ["--vram", "1GiB", "-m", "1/0"], "division by 0"),
                       ([table[0], "-t", "seconds", "--vram", "1GiB"], "--unit")):
        done = box.tare("plan", *args)
        check_equal((done.code, done.out), (2, ""), args, done)
        check_says(done.err, says)


@case
def json_is_as_documented(box):
    def keys(value, at=""):
        if isinstance(value, dict):
            return {at + "." + k for k in value if at != ".best.params" and at != ".first_that_does_not.params"}.union(
                *(keys(v, at + "." + k) for k, v in value.items()))
        return set()

    with open(os.path.join(ROOT, "docs", "JSON.md"), encoding="utf-8") as file:
        block = re.search(r"## `tare plan.*?```json\n(.*?)```", file.read(), re.S).group(1)
    check_equal(keys(plan(box, *write_table(box), "--vram", "5000MiB")), keys(json.loads(block)))


main()
