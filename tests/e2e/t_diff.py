#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`tare diff`: two recordings, two instants of one, what was saved."""

import csv
import io
import json
import os

from harness import MIB, PYTHON, case, check, check_equal, check_says, fixture, main, needs_exec, needs_torch
from held import hold

VIEWS = ("account", "owner", "process", "device", "library", "line", "stack", "category", "tensor",
         "module")


def diff(box, *args, code=0, **more):
    done = box.tare("diff", *args, **more)
    check_equal(done.code, code, done)
    return done


def data(box, *args, **more):
    found = json.loads(diff(box, *args, "--json", **more).out)
    check_sums(found)
    return found


def check_sums(found):
    for total in found["totals"]:
        rows = [r for r in found["rows"] if r["device"] == total["device"] and r["leaf"]]
        for key in ("before_bytes", "after_bytes", "difference_bytes"):
            check_equal(sum(r[key] for r in rows), total[key], key, total)
    for row in found["rows"]:
        check_equal(row["after_bytes"] - row["before_bytes"], row["difference_bytes"], row)
    sizes = [abs(r["difference_bytes"]) for r in found["rows"]]
    check_equal(sizes, sorted(sizes, reverse=True), "the largest change is not first")


@case
def two_recordings(box):
    hold(box, "a.tare", 8 * MIB)
    hold(box, "b.tare", 8 * MIB, 24 * MIB)
    found = data(box, "a.tare", "b.tare", "--at", "end")
    held = [r for r in found["rows"] if r["leaf"] and r["difference_bytes"]]
    check_equal([r["difference_bytes"] for r in held], [24 * MIB], held)
    check_equal((held[0]["before_bytes"], held[0]["before_count"], held[0]["after_count"]), (8 * MIB, 1, 2))
    check("/allocations/" in held[0]["path"], held)
    check(held[0]["path"] != held[0]["after_path"], "two runs, and one pid", held)
    check_equal(found["totals"][0]["difference_bytes"], 24 * MIB)
    text = diff(box, "a.tare", "b.tare", "--at", "end").out
    check_says(text, "before  a.tare at end", "after   b.tare at end", "+24.0", "(1 → 2)", "the same on both sides",
               "(1 → 2): so many before, so many after")
    check("next to nothing" not in text, text)
    rows = list(csv.DictReader(io.StringIO(diff(box, "a.tare", "b.tare", "--at", "end", "--csv").out)))
    check_equal([dict(r, device=int(r["device"] or -1)) for r in rows][0]["difference_bytes"], str(24 * MIB))
    check_equal(len(rows), len(found["rows"]))


@case
def two_instants_of_one(box):
    box.record(fixture("e2e_phases"))
    report = json.loads(box.tare("report", "rec.tare", "--json").out)
    want = {}
    for key, device in (("before", report["devices"][0]), ("after", report["also"][0]["devices"][0])):
        for row in device["accounts"]:
            want.setdefault(row["path"], {})[key] = row["bytes"]
    for args in (["rec.tare", "--at", "peak", "--at", "end"], ["rec.tare@peak", "rec.tare@end"],
                 ["rec.tare", "rec.tare@end"]):
        found = data(box, *args)
        got = {r["path"]: r for r in found["rows"] if r["device"] == 0 and r["path"] != "unexplained"}
        check_equal(set(got), set(want), args)
        for path, row in got.items():
            check_equal(row["before_bytes"], want[path].get("before", 0), path)
            check_equal(row["after_bytes"], want[path].get("after", 0), path)
            check_equal(row["side"], "both" if len(want[path]) == 2 else list(want[path])[0], path)
        check_equal((found["before"]["at"], found["after"]["at"]), ("peak", "end"))


@case
def every_view_and_format(box):
    box.record(fixture("e2e_tensors", "new"))
    for view in VIEWS:
        data(box, "rec.tare@peak", "rec.tare@end", "--by", view)
        for form in ("text", "csv", "markdown", "html", "jsonl", "tsv"):
            check(diff(box, "rec.tare@peak", "rec.tare@end", "--by", view, "--format", form).out, view, form)
    for view in ("time", "pool", "graph", "stream", "rank"):
        check_says(diff(box, "rec.tare@peak", "rec.tare@end", "--by", view, code=2).err, view, "say one of", "account")


@case
def saved_reports(box):
    hold(box, "a.tare", 8 * MIB)
    hold(box, "b.tare", 16 * MIB)
    for rec in "ab":
        for name, args in (("", []), ("-line", ["--by", "line"])):
            with open(box.path(rec + name + ".json"), "w", encoding="utf-8") as out:
                out.write(box.tare("report", rec + ".tare", "--json", *args).out)
    want = data(box, "a.tare", "b.tare")["rows"]
    check_equal(data(box, "a.json", "b.json")["rows"], want)
    check_equal(data(box, "a.json", "b.tare")["rows"], want)
    check_equal(data(box, "a-line.json", "b.json")["rows"], want, "a saved view has the accounts, too")
    check_equal(data(box, "a.json@end", "b.json@end")["rows"], data(box, "a.tare@end", "b.tare@end")["rows"])
    with open(box.path("a.json"), "rb") as text:
        check_equal(data(box, "-", "b.json", input=text.read())["rows"], want)
    lines = data(box, "a-line.json", "b.tare", "--by", "line")
    check_equal(lines["rows"], data(box, "a.tare", "b.tare", "--by", "line")["rows"])
    check_says(diff(box, "a.json", "b.json", "--by", "line", code=125).err, "a.json", "--by line", "save it")
    check_says(diff(box, "a.json@2s", "b.json", code=125).err, "a.json", "2s", "its first is peak")


@case
def rows_that_are_next_to_nothing_are_counted(box):
    """Both sides show as 0.0 MiB: no row for people, one in data."""
    hold(box, "a.tare", 8 * MIB)
    report = json.loads(box.tare("report", "a.tare", "--json").out)
    rows = [r for r in report["devices"][0]["accounts"] if "/allocations" in r["path"]]
    for name, size in (("small", 1000), ("large", 52000), ("shown", 53000)):
        for row in rows:
            row["bytes"] = size
        with open(box.path(name + ".json"), "w", encoding="utf-8") as out:
            json.dump(report, out)
    text = diff(box, "small.json", "large.json").out
    check_says(text, "1 row is next to nothing on both sides")
    check("allocations" not in text, text)
    changes = {r["path"]: r["difference_bytes"] for r in json.loads(diff(box, "small.json", "large.json", "--json").out)["rows"]}
    check_equal(changes[rows[-1]["path"]], 51000)
    text = diff(box, "small.json", "shown.json").out
    check_says(" ".join(text.split()), "allocations", " 0.0 0.1 +0.0")
    check("next to nothing" not in text, text)


@case
def nothing_of_what_one_side_lacks_is_the_same(box):
    """A GPU that the other recording did not use has rows of 0 bytes, too."""
    hold(box, "a.tare", 8 * MIB)
    report = json.loads(box.tare("report", "a.tare", "--json").out)
    check(any(r["bytes"] == 0 for r in report["devices"][0]["accounts"]), report)
    report["devices"] = []
    with open(box.path("none.json"), "w", encoding="utf-8") as out:
        json.dump(report, out)
    text = diff(box, "none.json", "a.tare").out
    check_says(" ".join(text.split()), "allocations", "+8.0", "unexplained")
    check("the same" not in text, text)


@case
def bad_inputs(box):
    hold(box, "a.tare", 8 * MIB)
    for name, text in (("cut.json", '{"devices": ['), ("other.json", '{"devices": 3}'), ("empty.json", "")):
        with open(box.path(name), "w", encoding="utf-8") as out:
            out.write(text)
        check_says(diff(box, "a.tare", name, code=125).err, name)
    with open(box.path("train.py"), "w", encoding="utf-8") as out:
        out.write("import torch\n")
    check_says(diff(box, "train.py", "a.tare", code=125).err, "train.py", "neither a recording nor", "line 1, column 1")
    os.mkfifo(box.path("fifo"))
    os.mkdir(box.path("no.tare"))
    check_says(diff(box, "a.tare", "none.tare", code=125).err, "none.tare")
    check_says(diff(box, "no.tare", "a.tare", code=125).err, "no.tare")
    check_says(diff(box, "a.tare", code=2).err, "--at twice", "second recording")
    check_says(diff(box, "a.tare", "a.tare", "a.tare", code=2).err, "too many")
    check_says(diff(box, "a.tare", "--at", "1s", "--at", "2s", "--at", "3s", code=2).err, "3 times")
    check_says(diff(box, "a.tare@peek", "a.tare", code=2).err, "peek")
    check_says(diff(box, "a.tare", "a.tare", "--sort", "size", code=2).err, "size", "difference_bytes")


@case
def a_name_with_an_at(box):
    hold(box, "a@end.tare", 8 * MIB)
    found = data(box, "a@end.tare", "a@end.tare@end")
    check_equal((found["before"]["source"], found["before"]["at"]), ("a@end.tare", "peak"))
    check_equal((found["after"]["source"], found["after"]["at"]), ("a@end.tare", "end"))


@case
def tensors_on_the_cpu(box):
    needs_exec()
    needs_torch()
    for rec, count in (("a.tare", 3), ("b.tare", 5)):
        with open(box.path("run.py"), "w", encoding="utf-8") as out:
            out.write("import torch\nkept = [torch.zeros(1 << 20) for _ in range(%d)]\n" % count)
        box.record([PYTHON, "run.py"], rec=rec, sim=None)
    found = data(box, "a.tare", "b.tare")
    cpu = [t for t in found["totals"] if t["device"] is None][0]
    check_equal(cpu["difference_bytes"], 8 * MIB)
    lines = data(box, "a.tare", "b.tare", "--by", "line")["rows"]
    check_equal((os.path.basename(lines[0]["path"]), lines[0]["difference_bytes"]), ("run.py:2 in <listcomp>", 8 * MIB))


main()
