#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tare import: what others printed and wrote, as a recording."""

import json
import os

from harness import case, check, check_balance, check_equal, check_says, fixture, main, tare_argv

MIB = 1 << 20

NOTES = """\
loading 3 files
start used: 527.00 MiB
precon: used: 551.00 MiB, diff: 24.00 MiB
force_graph max_iter=800 used: 1627.00 MiB, diff: 1076.00 MiB
broken used: n/a, diff: ?
--- fermion ---
used: 2287.75 MiB, diff: 88 MiB
free of precon: used: 2263.75 MiB, diff: -24.00 MiB
bye
"""


def write(box, text, name="notes.log"):
    with open(box.path(name), "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    return name


def phases(box, rec="notes.tare"):
    done = box.tare("report", rec, "--by", "phase", "--json")
    check_equal(done.code, 0, done)
    report = json.loads(done.out)
    check_balance(report, "phase")
    check_equal([d["unexplained_bytes"] for d in report["devices"]], [0] * len(report["devices"]))
    return {row["label"]: row for row in report["rows"]}, report


def imported(box, text, *options):
    """The phases of a log: label → (bytes before, change), in MiB."""
    done = box.tare("import", write(box, text), "-o", "notes.tare", "-f", *options)
    check_equal(done.code, 0, done)
    rows, _ = phases(box)
    return {label: (row["used_before_bytes"] / MIB, row["bytes"] / MIB) for label, row in rows.items()}


@case
def prints_become_phases(box):
    done = box.tare("import", write(box, NOTES), "-o", "notes.tare")
    check_equal(done.code, 0, done)
    check_says(done.out, "notes.log: 5 lines with figures, 1 that cannot be read", "notes.tare")
    rows, report = phases(box)
    check_equal([(r["label"], r["used_after_bytes"], r["bytes"]) for r in rows.values()],
                [("start", 527 * MIB, 0), ("precon", 551 * MIB, 24 * MIB),
                 ("force_graph max_iter=800", 1627 * MIB, 1076 * MIB),
                 ("fermion", 2287 * MIB + MIB * 3 // 4, 88 * MIB),
                 ("free of precon", 2263 * MIB + MIB * 3 // 4, -24 * MIB)])
    check_equal({r["source"] for r in rows.values()}, {"print"})
    check_equal(report["devices"][0]["used_bytes"], 2287 * MIB + MIB * 3 // 4)
    check_equal(len(report["degraded"]), 1, report)
    check_says(report["degraded"][0], "1 line says", "line 5 of notes.log")
    check_equal(len(report["notes"]), 1, report)
    check_says(report["notes"][0], "a program printed these figures (notes.log)")


@case
def where_figures_come_from_is_no_alarm(box):
    box.tare("import", write(box, NOTES), "-o", "notes.tare")
    for args in (("report",), ("report", "--at", "end"), ("info",), ("diff", "notes.tare", "--by", "phase")):
        done = box.tare(args[0], "notes.tare", *args[1:])
        said = [line for line in done.out.splitlines() if "a program printed these figures" in line]
        check(said and all(line.startswith("note") for line in said), args, done.out)
        check(any(line.startswith("! ") and "1 line says" in line for line in done.out.splitlines()), args, done.out)


@case
def report_shows_the_phases_without_being_asked(box):
    box.tare("import", write(box, NOTES), "-o", "notes.tare")
    done = box.tare("report", "notes.tare")
    check_says(done.out, "PHASE", "USED AFTER", "force_graph max_iter=800", "+1,076.0", "-24.0")
    check("evidence" not in done.out, done)
    check_says(box.tare("report", "notes.tare", "--at", "end").out, "not taken apart, as printed", "unexplained  ")
    check_equal(box.tare("report", "notes.tare", "--svg", "notes.svg").code, 0)


@case
def units_are_those_that_are_printed(box):
    text = "a: used: 2 GB, diff: 500 MB\nb: used: 2400, diff: 12.5\nc: used: 4294967296, diff: 1048576\n"
    check_equal(imported(box, text), {"a": (1.5e9 / MIB, 5e8 / MIB), "b": (2387.5, 12.5), "c": (4095.0, 1.0)})
    check_equal(imported(box, "c: used: 4294967296.0, diff: 1048576.0\nd: used: 8.589934592e9, diff: 4294967296\n"),
                {"c": (4095.0, 1.0), "d": (4096.0, 4096.0)})
    check_equal(imported(box, text, "--binary")["a"], (1548.0, 500.0))
    check_equal(imported(box, "b: used: 2, diff: 0.5\n", "--unit", "1GiB"), {"b": (1536.0, 512.0)})


@case
def figures_on_two_lines_and_repeats(box):
    text = "graph\nused: 100 MiB\ndiff: 20 MiB\ngraph\nused: 120 MiB\ndiff: 20 MiB\n"
    done = box.tare("import", write(box, text), "-o", "notes.tare")
    check_equal(done.code, 0, done)
    rows, _ = phases(box)
    check_equal([(r["label"], r["count"], r["bytes"]) for r in rows.values()], [("graph", 2, 40 * MIB)])


@case
def gpus_and_times(box):
    text = ("12:00:01 GPU 0 load used: 100 MiB\n12:00:01 GPU 1 load used: 300 MiB\n"
            "12:00:04 GPU 1 step used: 310 MiB, diff: 10 MiB\n")
    box.tare("import", write(box, text), "-o", "notes.tare")
    done = box.tare("report", "notes.tare", "--at", "end", "--json")
    report = json.loads(done.out)
    check_equal([(d["index"], d["used_bytes"]) for d in report["devices"]], [(0, 100 * MIB), (1, 310 * MIB)])
    rows, _ = phases(box)
    check_equal(round(rows["step"]["ns"] / 1e9), 3, rows["step"])


@case
def lines_of_one_moment(box):
    """The first line with a time, and two in one second, begin with what was in use before them."""
    check_equal(imported(box, "12:00:01 load: used: 100 MiB, diff: 100 MiB\n12:00:01 step: used: 110 MiB, diff: 10 MiB\n"),
                {"load": (0.0, 100.0), "step": (100.0, 10.0)})


@case
def a_pipe_is_read_too(box):
    done = box.run(["sh", "-c", "printf 'a: used: 3 MiB, diff: 1 MiB\\n' | \"$@\"", "sh"]
                   + tare_argv("import", "-", "-o", "notes.tare"))
    check_equal(done.code, 0, done)
    check_equal([r["bytes"] for r in phases(box)[0].values()], [MIB])


@case
def what_is_no_such_file_is_refused(box):
    for text, words in (("", ("empty",)), ("nothing to see\n", ("no file that tare import knows", "--from")),
                        (b"\x00\x01\x02used: 3 MiB\n", ("no file that tare import knows",))):
        done = box.tare("import", write(box, text), "-o", "notes.tare")
        check_equal(done.code, 125, done)
        check_says(done.err, "notes.log", *words)
        check(not os.path.exists(box.path("notes.tare")), "left behind")
    done = box.tare("import", write(box, "nothing\n"), "--from", "printed", "-o", "notes.tare")
    check_equal(done.code, 125, done)
    check_says(done.err, "no line has figures", "used: 1204 MiB")
    check(not os.path.exists(box.path("notes.tare")), "left behind")
    check_equal(box.tare("import", "missing.log").code, 125)
    check_equal(box.tare("import").code, 2)


@case
def a_recording_is_replaced_only_if_the_file_can_be_read(box):
    box.tare("import", write(box, NOTES), "-o", "notes.tare")
    done = box.tare("import", "notes.log", "-o", "notes.tare")
    check_equal(done.code, 125, done)
    check_says(done.err, "exists already", "-f")
    check_equal(box.tare("import", write(box, "no\n", "no.log"), "-o", "notes.tare", "-f").code, 125)
    check_equal(len(phases(box)[0]), 5)


@case
def long_and_odd_lines(box):
    text = (b"a: used: 5 MiB\r\n" + b"x" * 200000 + b"\n" + b"y" * 70000 + b" used: 5 MiB, diff: 1 MiB\r\n"
            + b"ok: used: 6 MiB, diff: 1 MiB")
    check_equal(imported(box, text), {"a": (5.0, 0.0), "ok": (5.0, 1.0)})
    rows = imported(box, b"\xff\xfe\x1b[31m: used: 6 MiB, diff: 1 MiB\n")
    check_equal(list(rows.values()), [(5.0, 1.0)])


@case
def progress_bars_and_colours(box):
    text = (b"10%|# |\r50%|## |\rprecon: used: 5 MiB, diff: 1 MiB\r\n"
            b"\x1b[32mgreen\x1b[0m: used: \x1b[1m6 MiB\x1b[0m, diff: 1 MiB\x1b[\n")
    check_equal(imported(box, text), {"precon": (4.0, 1.0), "green": (5.0, 1.0)})


@case
def a_note_has_a_law(box):
    """The series of a note: MiB of a graph by the iterations captured in it."""
    used, text = 1000, ""
    for iterations, mib in ((800, 1204), (400, 1098), (200, 1052), (100, 1034), (40, 1020), (20, 1014)):
        used += mib
        text += "force_graph max_iter=%d: used: %d MiB, diff: %d MiB\n" % (iterations, used, mib)
    check_equal(box.tare("import", write(box, text), "-o", "notes.tare").code, 0)
    done = box.tare("fit", "notes.tare", "--json")
    check_equal(done.code, 0, done)
    series = json.loads(done.out)["series"]
    check_equal([s["target"] for s in series], ["force_graph"], "one figure, one law")
    law = next(f for f in series[0]["findings"] if f["param"] == "max_iter")
    check(abs(law["per_step"] / MIB - 0.24) < 0.02 and series[0]["strength"] == "law", series[0])


@case
def what_was_recorded_stands_beside(box):
    """The same names, so that both tables can be laid beside each other."""
    box.record(fixture("e2e_phases"))
    done = box.tare("report", "rec.tare", "--by", "phase", "--json")
    ours = json.loads(done.out)["rows"]
    named = [r for r in ours if r["device"] == 0 and r["bytes"] is not None][:3]
    text = "".join("%s: used: %d, diff: %d\n" % (r["label"], r["used_after_bytes"], r["bytes"]) for r in named)
    box.tare("import", write(box, text), "-o", "notes.tare", "--unit", "1")
    rows, _ = phases(box)
    check(named, ours)
    check_equal([rows[r["label"]]["bytes"] for r in named], [r["bytes"] for r in named])
    done = box.tare("diff", "notes.tare", "rec.tare", "--by", "phase", "--json")
    check_equal(done.code, 0, done)
    beside = {r["path"]: r for r in json.loads(done.out)["rows"]}
    for row in named:
        check_equal((beside[row["path"]]["side"], beside[row["path"]]["difference_bytes"]), ("both", 0), row["path"])
    check_equal([r["path"] for r in json.loads(done.out)["rows"]][:len(named)], [r["path"] for r in named], "their order")
    check({r["side"] for r in beside.values()} == {"both", "after"}, "what only one has")
    check_says(box.tare("diff", "notes.tare", "rec.tare", "--by", "phase").out, "before  notes.tare", named[0]["path"])


if __name__ == "__main__":
    main(checks_views=True)
