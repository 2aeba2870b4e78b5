#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recordings of other versions: one that was made before records and fields were taken out, and those of one to come."""

import glob
import json
import os
import re
import shutil
import struct
import tarfile

from harness import case, check, check_equal, check_says, fixture, main, needs_exec
from other_version import AT_SCHEMA, newer, newer_calls, translate_all

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden")
# More than a cap of 2 MiB holds.
VIEWS = (["--at", "peak", "--at", "end"], ["--by", "library"], ["--by", "phase"], ["--by", "graph"], ["--by", "line"])


def check_within(was, now, path=""):
    """What the older report says is said by the newer one; that may say more."""
    if isinstance(was, dict):
        for key in was:
            check(key in now, "%s/%s is gone" % (path, key))
            check_within(was[key], now[key], "%s/%s" % (path, key))
    elif isinstance(was, list):
        check_equal(len(now), len(was), path)
        for i, item in enumerate(was):
            check_within(item, now[i], "%s/%d" % (path, i))
    else:
        check_equal(now, was, path)


def books(report):
    """Numbers and names; sentences may be worded otherwise."""
    return {key: report[key] for key in ("at", "devices", "host", "out_of_memory", "training")}


def unpack(box, name):
    with tarfile.open(os.path.join(GOLDEN, name + ".tar.xz")) as packed:
        packed.extractall(box.dir)
    return name + ".tare"


@case
def recording_of_0_1_0(box):
    """Its report is the one that the version made which recorded it; its schema has kinds, fields and a class that are gone."""
    rec = unpack(box, "recording-0.1.0")
    done = box.tare("report", rec, "--at", "peak", "--at", "end", "--json")
    check_equal(done.code, 0, done)
    with open(os.path.join(GOLDEN, "recording-0.1.0.json"), encoding="utf-8") as text:
        was = json.load(text)
    now = json.loads(done.out)
    check_within(books(was), books(now))
    check_equal(now["degraded"], was["degraded"])
    dump = box.tare("dump", rec).out
    check_equal(dump.count(" tensor "), 4004)
    check("unknown" not in dump, dump[-2000:])


def said(box, *args):
    done = box.tare(*args, "--json")
    check_equal(done.code, 0, done)
    return json.loads(done.out)


@case
def segments_of_0_1_0_as_it_made_them(box):
    """The same recording, which that version itself compacted: the same report."""
    rec = unpack(box, "recording-0.1.0-compacted")
    with open(os.path.join(GOLDEN, "recording-0.1.0.json"), encoding="utf-8") as text:
        was = json.load(text)
    now = said(box, "report", rec, "--at", "peak", "--at", "end")
    check(was["training"], "nothing is left out of the comparison")
    check_within(books(was), books(now))
    check_equal(now["degraded"], was["degraded"])


def compact(box, rec):
    done = box.tare("compact", rec)
    check_equal(done.code, 0, done)
    check(glob.glob(box.path(rec, "*.segment")), os.listdir(box.path(rec)))


@case
def segments_of_0_1_0(box):
    """Segments bring along as which version's their records lie."""
    rec = unpack(box, "recording-0.1.0")
    was, dump = list(reports(box, rec)), box.tare("dump", rec, "--json").out.splitlines()
    compact(box, rec)
    check_equal(list(reports(box, rec)), was)
    check_equal(len(box.tare("dump", rec, "--json").out.splitlines()), len(dump))


def has_key(value, path):
    """".a.b[].c": in what is null or an empty list nothing can be missing."""
    head, rest = re.match(r"(\.[^.\[]*|\[\])(.*)", path).groups()
    if value is None:
        return True
    if head == "[]":
        return all(has_key(item, rest) for item in value) if rest else True
    return head[1:] in value and (not rest or has_key(value[head[1:]], rest))


@case
def commands_have_the_keys_of_0_1_0(box):
    """Of the commands that need no file of a sweep; the report is looked at above and in tests/unit/t_json_doc.c."""
    box.record(fixture("e2e_idle"))
    outputs = {
        "A ledger": box.tare("report", "rec.tare", "--json"),
        "`--cost time`": box.tare("report", "rec.tare", "--cost", "time", "--json"),
                "`tare env --json`": box.tare("env", "--json"),
        "`tare doctor --json`": box.tare("doctor", "--json"),
    }
    with open(os.path.join(GOLDEN, "json-keys-0.1.0.txt"), encoding="utf-8") as text:
        lines = [line.rstrip("\n").split("\t") for line in text]
    keys = [(heading, "%s.%s" % (below, name)) for heading, below, names in lines for name in names.split()]
    for heading, done in outputs.items():
        of_it = [path for known, path in keys if known == heading]
        check(of_it, heading)
        now = json.loads(done.out)
        for path in of_it:
            check(has_key(now, path), "%s: %s is gone" % (heading, path))


def reports(box, rec):
    for view in VIEWS:
        done = box.tare("report", rec, *view, "--json")
        check_equal(done.code, 0, done)
        yield view, json.loads(done.out)


def check_same_reports(box, rec, change=newer):
    """By a version that has moved, widened, added and removed fields, and has kinds of its own."""
    ours, theirs = rec + ".tare", "%s-%s.tare" % (rec, change.__name__)
    shutil.copytree(box.path(ours), box.path(theirs))
    check(translate_all(box.path(theirs), change) > 50)
    for (view, was), (_, now) in zip(reports(box, ours), reports(box, theirs)):
        notes = [note for note in now.pop("degraded") if "does not know" not in note]
        check_equal([n.replace(ours, "") for n in was.pop("degraded")], [n.replace(theirs, "") for n in notes])
        for report in was, now:
            report.pop("also", None)
        check_equal(json.dumps(now).replace(theirs, ours), json.dumps(was), view)
    done = box.tare("report", theirs)
    check_says(done.out + done.err, "of a kind that Tare", "open it with Tare 9.8.7")
    check_says(box.tare("dump", theirs).out, " flux kind=900 a=7 bytes=4 \"flow\"")
    was = list(reports(box, theirs))
    compact(box, theirs)
    check_equal(list(reports(box, theirs)), was)
    check_says(box.tare("dump", theirs).out, " flux kind=900 a=7 bytes=4 \"flow\"")


@case
def a_newer_version_reads_the_same(box):
    needs_exec()
    commands = [" ".join(fixture(name)) for name in ("e2e_phases", "e2e_graphs", "e2e_tensors new", "e2e_vmm")]
    box.record(["sh", "-c", "; ".join(commands)], rec="rec.tare", exit_code=None)
    check_same_reports(box, "rec")
    check_same_reports(box, "rec", newer_calls)


@case
def a_schema_that_is_missing(box):
    """A sentence for that log; what the others say is told."""
    box.record(fixture("e2e_alloc"))
    translate_all(box.path("rec.tare"))
    log, = [p for p in glob.glob(box.path("rec.tare", "*.events")) if os.path.basename(p)[0].isdigit()]
    with open(log, "r+b") as data:
        data.seek(AT_SCHEMA)
        data.write(struct.pack("=I", 12345))
    check_says("\n".join(box.report()["degraded"]), "was written by Tare 9.8.7", "missing or damaged", "open it with Tare 9.8.7")


main()
