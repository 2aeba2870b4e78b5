#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`tare check`: limits that hold, that do not, and that cannot be told; budgets with mistakes; JUnit; lines for GitHub.

    TARE_E2E_BUILD=build tests/e2e/t_check.py CASE
"""

import json
import os
import re
import xml.etree.ElementTree as xml

from harness import MIB, PYTHON, ROOT, case, check, check_equal, check_says, fixture, main, needs_cplusplus, needs_exec, needs_torch
from held import hold


def limits(box, *args, code=0, **more):
    done = box.tare("check", *args, **more)
    check_equal(done.code, code, done)
    return done


def data(box, *args, **more):
    return json.loads(limits(box, *args, "--json", **more).out)


def write(box, name, text):
    with open(box.path(name), "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    return name


def value(report, path):
    for part in path.split("."):
        report = report[int(part) if part.isdigit() else part]
    return report


@case
def figures_are_those_of_the_report(box):
    hold(box, "rec.tare", 8 * MIB, 24 * MIB)
    peak = json.loads(box.tare("report", "rec.tare", "--at", "peak", "--json").out)
    accounts = {}
    for row in peak["devices"][0]["accounts"]:
        if row["path"].count("/") == 1:
            accounts[row["account"]] = row["bytes"]
    names = {key: value(peak, "devices.0.%s_bytes" % key) for key in ("used", "need", "elastic", "unexplained")}
    names.update((key, accounts[key]) for key in ("context", "allocations"))
    owners = json.loads(box.tare("report", "rec.tare", "--at", "peak", "--by", "owner", "--json").out)["rows"]
    names.update(("owner:" + row["label"], row["bytes"]) for row in owners)
    for name, size in names.items():
        found = data(box, "rec.tare", "--max", "%s=%d" % (name, size))["checks"][0]
        check_equal((found["bytes"], found["limit_bytes"], found["state"]), (size, size, "ok"), name)
        if size:
            found = data(box, "rec.tare", "--max", "%s=%d" % (name, size - 1), code=1)
            check_equal((found["ok"], found["over"], found["checks"][0]["state"]), (False, 1, "over"), name)
    end = json.loads(box.tare("report", "rec.tare", "--at", "end", "--json").out)
    found = data(box, "rec.tare", "--max", "used@end=1GiB")["checks"][0]
    check_equal((found["at"], found["bytes"]), ("end", value(end, "devices.0.used_bytes")))


@case
def people_see_what_is_over(box):
    hold(box, "rec.tare", 8 * MIB)
    text = limits(box, "rec.tare", "--max", "allocations=4MiB", "--max", "used=8GiB", "--max", "graphs=0", code=1).out
    check_says(text, "CHECK", "LIMIT", "OVER", "allocations is 8.0 MiB on GPU 0, the limit 4.0 MiB", "1 of 3 over", "graphs")
    check_says(limits(box, "rec.tare", "--max", "used=8GiB", "--growth", "0").out, "all 2 within", "growth, a step")
    for form in ("csv", "markdown", "html", "jsonl", "tsv"):
        check("allocations" in limits(box, "rec.tare", "--max", "allocations=4MiB", "--format", form, code=1).out, form)
    check_says(limits(box, "--max", "used=8GiB").err, "rec.tare")  # the newest here


@case
def a_budget_is_a_file(box):
    hold(box, "rec.tare", 8 * MIB)
    write(box, "b", "# all of it\r\n\r\nused = 8GiB # peak\nallocations=8 MiB\ngrowth = 0\n  used@end = 8GiB")
    found = data(box, "rec.tare", "--budget", "b")["checks"]
    check_equal([(c["check"], c["budget"], c["budget_line"]) for c in found],
                [("used", "b", 3), ("allocations", "b", 4), ("growth", "b", 5), ("used", "b", 6)])
    done = limits(box, "rec.tare", "-b", "-", input=b"used=1", code=1)
    check_says(done.out, "OVER")


@case
def mistakes_are_told(box):
    hold(box, "rec.tare", 8 * MIB)
    for text, said in (
            ("used = 8GiB\nactivation 2GiB\n", ("b:2", "NAME=SIZE")),
            ("used = \n", ("b:1", "no size")),
            ("used = -1\n", ("b:1", "no size")),
            ("used = 8 elephants\n", ("b:1", "elephants", "2GiB")),
            ("\n\nused = 99999999999999999999GiB\n", ("b:3", "more than any memory")),
            ("used = 9223372036854775808\n", ("b:1", "more than any memory")),
            ("= 4\n", ("b:1", "NAME=SIZE")),
            ("phase:warm up = 4\n", ("b:1", "phase")),
            ("growth = much\n", ("b:1", "no size")),
            ("baseline = \n", ("b:1", "name a recording")),
            ("baseline = b +x%\n", ("b:1", "+x%")),
            ("contxt = 1GiB\n", ("b:1", "contxt", "did you mean context", "allocations")),
            ("\nline:train.py:99 = 4\n", ("b:2", "line", "train.py:99", "there")),
            ("owner:nobody = 4\n", ("b:1", "nobody", "there are", "e2e_steps")),
            ("# nothing\n", ("b", "limits nothing")),
            (b"used\0 = 4\n", ("b", "byte 0")),
    ):
        write(box, "b", text)
        done = limits(box, "rec.tare", "--budget", "b", code=2)
        check_says(done.err, *said)
        check_equal(done.out, "")
    check_says(limits(box, "rec.tare", "--budget", "none", code=2).err, "none")
    check_says(limits(box, "rec.tare", "--budget", ".", code=2).err, ".")
    check_says(limits(box, "rec.tare", code=2).err, "there is no limit")
    check_says(limits(box, "rec.tare", "--max", "used", code=2).err, "--max used")
    check_says(limits(box, "rec.tare", "--max", "used=1", "+2%", code=2).err, "+2%", "--baseline")
    check_says(limits(box, "rec.tare", "--baseline", "rec.tare", "+2%", "+3%", code=2).err, "once")
    check_says(limits(box, "rec.tare", "--baseline", "rec.tare", "+-2%", code=2).err, "+-2%")
    check_says(limits(box, "none.tare", "--max", "used=1", code=125).err, "none.tare")
    check_says(limits(box, "rec.tare", "--max", "used@oom=1", code=125).err, "oom")
    write(box, "text", "no json")
    check_says(limits(box, "rec.tare", "--baseline", "text", code=125).err, "text")


@case
def what_is_not_known_is_not_within(box):
    hold(box, "rec.tare", 8 * MIB)
    box.record(["true"], rec="none.tare", sim=None)
    found = data(box, "none.tare", "--max", "used=8GiB", code=2)
    check_equal((found["ok"], found["unknown"], found["checks"][0]["bytes"]), (False, 1, None))
    found = data(box, "rec.tare", "--max", "activation=8GiB", code=2)["checks"][0]
    check_equal(found["state"], "unknown")
    check("tensor" in found["why"], found)
    check_says(limits(box, "none.tare", "--max", "used=8GiB", code=2).out, "not known", "no GPU was used")
    check_says(limits(box, "none.tare", "--baseline", "rec.tare", code=2).out, "only the baseline")
    check_equal(data(box, "rec.tare", "--max", "used=1", "--max", "activation=8GiB", code=1)["over"], 1)


@case
def a_baseline_without_a_heap(box):
    """Whether the heap was asked for says nothing of the program: the GPU is compared. Where there is nothing else it is not known."""
    hold(box, "plain.tare", 100 * MIB)
    box.record(fixture("e2e_steps"), rec="heap.tare", input=b"alloc %d\n" % (100 * MIB), options=["--host=full"])
    for rec, other in (("plain.tare", "heap.tare"), ("heap.tare", "plain.tare")):
        found = data(box, rec, "--baseline", other)["checks"][0]
        check_equal((found["state"], found["device"]), ("ok", 0))
        check(found["bytes"] >= 100 * MIB, found)
    box.record(["true"], rec="host.tare", sim=None, options=["--host=full"])
    check_says(limits(box, "host.tare", "--baseline", "plain.tare", code=2).out, "not known")


@case
def a_baseline(box):
    hold(box, "a.tare", 100 * MIB)
    hold(box, "b.tare", 116 * MIB)
    report = box.tare("report", "a.tare", "--json").out
    write(box, "good.json", report)
    used = json.loads(report)["devices"][0]["used_bytes"]
    for good in ("a.tare", "good.json"):
        limits(box, "a.tare", "--baseline", good)
        found = data(box, "b.tare", "--baseline", good, code=1)["checks"][0]
        check_equal((found["bytes"], found["limit_bytes"]), (used + 16 * MIB, used))
        check_says(found["why"], "16.0 MiB more", good)
        limits(box, "b.tare", "--baseline", good, "+%d" % ((16 << 20) - 1000))  # less than a line shows
        limits(box, "b.tare", "--baseline", good, "+%d" % ((16 << 20) - 60000), code=1)
        limits(box, "b.tare", "--baseline", good, "+16MiB")
        limits(box, "b.tare", "--baseline", good, "+15MiB", code=1)
        limits(box, "b.tare", "--baseline", good, "+10%")
        limits(box, "b.tare", "+1%", "--baseline", good, code=1)
    os.mkdir(box.path("ci"))
    os.rename(box.path("good.json"), box.path("ci", "good.json"))
    write(box, "ci/b", "baseline = good.json +10%\n")
    limits(box, "b.tare", "--budget", "ci/b")
    write(box, "ci/b", "baseline = good.json\n")
    limits(box, "b.tare", "--budget", "ci/b", code=1)


@case
def junit(box):
    hold(box, "rec.tare", 8 * MIB)
    write(box, "b<\"&", "used = 8GiB\nallocations = 4MiB\nactivation = 1\n")
    limits(box, "rec.tare", "--budget", "b<\"&", "--junit", "out.xml", code=1)
    suite = xml.parse(box.path("out.xml")).getroot().find("testsuite")
    check_equal((suite.get("tests"), suite.get("failures"), suite.get("errors")), ("3", "1", "1"))
    cases = {c.get("name"): c for c in suite}
    check(cases["used"].find("failure") is None and cases["used"].find("error") is None)
    check_says(cases["allocations"].find("failure").get("message"), "8.0 MiB", "4.0")
    check(cases["activation"].find("error") is not None)
    check_equal((cases["allocations"].get("file"), cases["allocations"].get("line")), ("b<\"&", "2"))
    only = limits(box, "rec.tare", "--max", "used=8GiB", "--junit", "-").out
    check_equal(xml.fromstring(only).find("testsuite").get("failures"), "0")
    check_says(limits(box, "rec.tare", "--max", "used=8GiB", "--junit", "-", "--json", code=2).err, "exclude")
    check_says(limits(box, "rec.tare", "--max", "used=8GiB", "--junit", "no/x", code=125).err, "no/x")


@case
def lines_for_github(box):
    hold(box, "rec.tare", 8 * MIB)
    write(box, "a,b:c", "allocations = 4MiB\n")
    want = "::error file=a%2Cb%3Ac,line=1,title=tare check::allocations is 8.0 MiB on GPU 0, the limit 4.0 MiB"
    check("::error" not in limits(box, "rec.tare", "--budget", "a,b:c", code=1).out)
    for args, env in ((["--github"], None), ([], {"GITHUB_ACTIONS": "true"})):
        done = limits(box, "rec.tare", "--budget", "a,b:c", *args, code=1, env=env)
        check(want in done.out.splitlines(), done)
    done = limits(box, "rec.tare", "--budget", "a,b:c", "--json", "--github", code=1)
    json.loads(done.out)
    check(want in done.err.splitlines(), done)
    check("::error title" in limits(box, "rec.tare", "--max", "used=1", "--github", code=1).out)
    check("::" not in limits(box, "rec.tare", "--max", "used=8GiB", "--github").out)


@case
def what_grows(box):
    box.record(fixture("e2e_growing", "leak-by-step", "40"))
    grows = json.loads(box.tare("report", "rec.tare", "--json").out)["growth"]
    most = max(row["bytes_per_step"] or 0 for row in grows)
    check(most > 0, grows)
    found = data(box, "rec.tare", "--growth", "0", code=1)["checks"][0]
    check_equal((found["bytes"], found["limit_bytes"], found["state"]), (most, 0, "over"))
    limits(box, "rec.tare", "--growth", str(most))
    limits(box, "rec.tare", "--growth", str(most - 1), code=1)
    check_says(limits(box, "rec.tare", "--growth", "0", code=1).out, "MiB a step", "growth, a step")


@case
def less_than_people_see_is_over_too(box):
    hold(box, "rec.tare", 8 * MIB)
    check_says(limits(box, "rec.tare", "--max", "allocations=%d" % (8 * MIB - 3), code=1).out, "8.0 MiB, 3 bytes less")


@case
def memory_of_the_cpu_is_told_as_that(box):
    needs_cplusplus("e2e_cpu_tensors")
    box.record(fixture("e2e_cpu_tensors"), sim=None)
    check(re.search(r"^baseline rec\.tare +CPU ", limits(box, "rec.tare", "--baseline", "rec.tare").out, re.M))
    check_says(limits(box, "rec.tare", "--max", "resident=1", code=1).out, " MiB on the CPU, the limit ")


@case
def what_tensors_are_for_and_who_made_them(box):
    """A training on the CPU: categories, lines and modules have limits there, too."""
    needs_exec()
    needs_torch()
    done = box.tare("record", "-o", "rec.tare", "--", PYTHON, os.path.join(ROOT, "examples", "train.py"), timeout=120)
    check_equal(done.code, 0, done)
    for by, name in (("category", "parameter"), ("category", "optimizer state"), ("line", None), ("module", None)):
        rows = json.loads(box.tare("report", "rec.tare", "--at", "peak", "--by", by, "--json").out)["rows"]
        row = next(r for r in rows if r["bytes"] > 0 and (r["label"] == name if name else r.get("file") or by == "module"))
        text = name or (by + ":" + ("%s:%d" % (os.path.basename(row["file"]), row["line"]) if by == "line" else row["label"]))
        if by == "line":
            size = sum(r["bytes"] for r in rows if (r["file"], r["line"]) == (row["file"], row["line"]))
        else:
            size = sum(r["bytes"] for r in rows if r["label"] == row["label"])
        found = data(box, "rec.tare", "--max", "%s=%d" % (text, size))["checks"][0]
        check_equal((found["bytes"], found["by"]), (size, by), text)
        done = limits(box, "rec.tare", "--max", "%s=%d" % (text, size - 1), "--github", code=1)
        if by == "line":
            check("line=%d," % row["line"] in done.out, done)


if __name__ == "__main__":
    main()
