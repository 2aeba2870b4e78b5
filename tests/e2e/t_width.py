#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is printed on a screen is as wide as the screen."""

import fcntl
import os
import re
import struct
import termios

from harness import (ROOT, case, check, check_equal, end_of, fixture, main, needs_exec, on_terminal, read_until,
                     tare_argv)

WIDTHS = (40, 60, 80, 120, 200)
TREES = ("account", "owner", "process", "library", "line", "stack", "time")
UTF8 = {"LC_ALL": "C.UTF-8"}
with open(os.path.join(ROOT, "src", "view", "by.def"), encoding="utf-8") as table:
    VIEWS = re.findall(r"^TARE_BY\w*\(\w+,\s*\"(\w+)\"", table.read(), re.M)


def check_width(text, width, *what):
    for line in text.splitlines():
        if " " not in line.strip():
            continue  # a path, which nothing can part
        check(len(line) <= width, "%d columns, of %d:" % (len(line), width), line, *what)


@case
def every_report(box):
    box.record(fixture("e2e_tensors", "new"), rec="tensors.tare")
    box.record(fixture("e2e_graphs"), rec="graphs.tare")
    for rec in ("tensors.tare", "graphs.tare"):
        commands = [["report", rec, "--by", view] for view in VIEWS]
        commands += [["report", rec], ["report", rec, "--cost", "time"], ["info", rec],
                     ["diff", rec, "--at", "peak", "--at", "end"]]
        for words in commands:
            for width in WIDTHS:
                done = box.tare(*words, env=dict(UTF8, COLUMNS=str(width)))
                check_equal(done.code, 0, done)
                check_width(done.out, width, words)


@case
def a_pipe_has_titles_and_trees_of_80_columns(box):
    """Where no screen ends only rows of a table that is no tree are wider; a card's name is long, and so are the names of files."""
    long_name = box.path("a_folder_with_a_rather_long_name_" * 2, "e2e_tensors_of_a_program_with_a_long_name")
    os.makedirs(os.path.dirname(long_name))
    os.symlink(fixture("e2e_tensors")[-1], long_name)
    box.record([long_name, "new"], rec="tensors.tare", sim="h100")
    box.record(fixture("e2e_graphs"), rec="graphs.tare", sim="h100")
    for rec in ("tensors.tare", "graphs.tare"):
        for view in VIEWS:
            done = box.tare("report", rec, "--by", view, env=UTF8)
            check_equal(done.code, 0, done)
            lines = done.out.splitlines()
            titles = [re.sub(" +MiB$", "", line) for line in lines if re.match(r"(GPU \d|CPU|heap|training|pool) ", line)]
            check_width("\n".join(lines if view in TREES else titles), 80, rec, view)


@case
def laws_and_plans(box):
    table = os.path.join(ROOT, "tests", "data", "cudagraph_footprint.csv")
    ask = [table, "--target", "mib", "--params", "bs,max_iter", "--where", "series=bs", "--where", "quantity=force_graph"]
    with open(box.path("cells.csv"), "w", encoding="utf-8") as out:
        out.write("bs,max_iter\n9,200\n1,900\n")
    with open(box.path("runs.csv"), "w", encoding="utf-8") as out:
        out.write("batch,mib\n1,100\n2,200\n4,400\n8,800\n")
    plan = ["plan", "runs.csv", "--target", "mib", "--params", "batch", "--vram", "1GiB"]
    for words in (["fit"] + ask, ["fit"] + ask + ["--predict", "cells.csv"], plan):
        for width in WIDTHS:
            done = box.tare(*words, env=dict(UTF8, COLUMNS=str(width)))
            check_equal(done.code, 0, done)
            check_width(done.out, width, words)
            check("cells.csv" not in words or "predicted" in done.out, done)


@case
def a_pipe_has_whole_tables(box):
    box.record(fixture("e2e_alloc"))
    plain = box.tare("report", "rec.tare", env=UTF8).out
    for columns in ("", "0", "-5", "wide", "80x"):
        check_equal(box.tare("report", "rec.tare", env=dict(UTF8, COLUMNS=columns)).out, plain, columns)
    check_equal(box.tare("report", "rec.tare", "--csv", env=dict(UTF8, COLUMNS="40")).out,
                box.tare("report", "rec.tare", "--csv", env=UTF8).out)


@case
def a_terminal(box):
    needs_exec()
    box.record(fixture("e2e_alloc"))
    for width in WIDTHS:
        pid, fd = on_terminal(box, ["/bin/sh", "-c", 'read go; exec "$@"', "sh"] + tare_argv("report", "rec.tare"),
                              dict(UTF8, NO_COLOR="1"))
        fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
        os.write(fd, b"go\n")
        text = read_until(fd, b"nothing ends like this", 10).decode()
        check_equal(end_of(pid), 0, text)
        os.close(fd)
        check("used" in text, text)
        check_width(text.replace("\r", ""), width)


main()
