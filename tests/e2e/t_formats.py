#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every report in every format: data that parses, pages and Markdown in which names stay names."""

import csv
import html.parser
import json
import os
import re
import shutil

from harness import PYTHON, ROOT, WRAPPER, Skip, case, check, check_equal, check_says, fixture, main, needs_exec

HOSTILE = "<script>a|`b`**c**"


def names_of(path, macro):
    """The names in a table of the sources, such as every X of --by."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as text:
        return re.findall(r"^%s\w*\(\w+,\s*\"(\w+)\"" % macro, text.read(), re.M)


FORMATS = names_of("src/base/emit_format.def", "TARE_FORMAT")
VIEWS = names_of("src/view/by.def", "TARE_BY")


class Page(html.parser.HTMLParser):
    """Every element is closed in its turn, there is no script, and nothing from outside."""

    def __init__(self, source):
        super().__init__()
        self.open, self.text, self.tags = [], [], []
        self.feed(source)
        self.close()
        check_equal(self.open, [])

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag != "meta":
            self.open.append(tag)
        check(tag != "script", "there is a script in it")
        for name, value in attrs:
            check(name not in ("src", "href") and not name.startswith("on"), (name, value))

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        check_equal(tag, self.open.pop())

    def handle_data(self, data):
        self.text.append(data)


def check_page(text):
    page = Page(text)
    check(text.startswith("<!DOCTYPE html>\n"), text[:100])
    check(not re.search(r"https?://|@import|url\(", text), "it needs something from outside")
    check("title" in page.tags, page.tags)


def check_markdown(text):
    """Rows of a table have as many cells as its head."""
    cells = 0
    for line in text.splitlines():
        n = len(re.findall(r"(?<!\\)\|", line))
        check(not line.startswith("|") or not cells or n == cells, line)
        cells = n if line.startswith("|") else 0
    check("<script" not in text, text)


def check_json(text):
    check_equal(json.loads(text)["tare"], 1)


def check_lines(text):
    for line in text.splitlines():
        check(isinstance(json.loads(line), dict), line)


def check_csv(text):
    for table in text.split("\n\n"):
        rows = list(csv.reader(table.splitlines()))
        check(all(len(row) == len(rows[0]) for row in rows), table)


def check_tsv(text):
    for table in text.split("\n\n"):
        rows = [line.split("\t") for line in table.splitlines()]
        check(all(len(row) == len(rows[0]) for row in rows), table)


CHECKS = {"text": lambda text: None, "json": check_json, "csv": check_csv, "markdown": check_markdown,
          "html": check_page, "jsonl": check_lines, "tsv": check_tsv}


def check_format(box, name, *command):
    done = box.tare(*command, "--format", name)
    check(done.code in (0, 125 if command[0] == "doctor" else 0), done)
    check(done.out.endswith("\n") or not done.out, done.out[-100:])
    CHECKS[name](done.out)
    return done.out


def hostile_recording(box):
    """Of a program whose name is markup."""
    program = box.path(HOSTILE)
    shutil.copy(fixture("e2e_phases")[-1], program)
    box.record(WRAPPER + [program])
    return "rec.tare"


@case
def every_view_in_every_format(box):
    rec = hostile_recording(box)
    check(set(CHECKS) == set(FORMATS), "a format has no check here")
    for name in FORMATS:
        check_format(box, name, "report", rec)
        check_format(box, name, "report", rec, "--cost", "time")
        for view in VIEWS:
            check_format(box, name, "report", rec, "--by", view)


@case
def other_commands_in_every_format(box):
    rec = hostile_recording(box)
    with open(box.path("t.csv"), "w", encoding="utf-8") as table:
        table.write("n,y\n" + "".join("%d,%d\n" % (n, 7 + 3 * n) for n in range(1, 12)))
    with open(box.path("sizes"), "w", encoding="utf-8") as sizes:
        sizes.write("1\n2\n2\n8\n")
    for name in FORMATS:
        for command in (["info"], ["info", rec], ["info", "--hooks"], ["doctor"],
                        ["fit", "t.csv", "--target", "y"], ["graphs", "choose", "sizes"],
                        ["plan", "t.csv", "--target", "y", "--unit", "MiB", "--vram", "1GiB"]):
            check_format(box, name, *command)


@case
def names_stay_names(box):
    rec = hostile_recording(box)
    page = check_format(box, "html", "report", rec, "--by", "owner")
    check(HOSTILE in "".join(Page(page).text), page)
    text = check_format(box, "markdown", "report", rec, "--by", "owner")
    check_says(text, r"&lt;script&gt;a\|\`b\`\*\*c\*\*")


@case
def short_forms_say_the_same(box):
    rec = hostile_recording(box)
    for short, name in (("--json", "json"), ("--csv", "csv"), ("--md", "markdown")):
        check_equal(box.tare("report", rec, short).out, box.tare("report", rec, "--format", name).out)
    check_equal(box.tare("report", rec, "--by", "account", "--html", "page.html").out, "")
    with open(box.path("page.html"), encoding="utf-8") as page:
        check_equal(page.read(), box.tare("report", rec, "--by", "account", "-F", "html").out)
    for both in (["--json", "--csv"], ["--json", "--format", "csv"], ["--md", "--html", "p"],
                 ["--md", "--format", "text"], ["--svg", "p", "--md"]):
        done = box.tare("report", rec, *both)
        check_equal(done.code, 2, done)
    check_says(box.tare("info", "--json", "--csv").err, "exclude each other")
    check_says(box.tare("report", rec, "--format", "pdf").err, "text|json|csv")


@case
def rows_by_a_column(box):
    rec = hostile_recording(box)
    def column(key, *options):
        done = box.tare("report", rec, "--at", "peak", "--by", "owner", "--csv", *options)
        check_equal(done.code, 0, done)
        return [row[key] for row in csv.DictReader(done.out.splitlines())]
    for key, is_down in (("bytes", True), ("count", True), ("driver_ns", True), ("-count", False)):
        values = [int(value) for value in column(key.lstrip("-"), "--sort", key)]
        check_equal(values, sorted(values, reverse=is_down), key)
    check_equal(column("label", "--sort", "label"), sorted(column("label")))
    want = [row["label"] for row in
            json.loads(box.tare("report", rec, "--at", "peak", "--by", "owner", "--sort", "label", "--json").out)["rows"]]
    check_equal(want, sorted(want))
    text = box.tare("report", rec, "--by", "owner", "--sort", "label").out
    check(text.index("\n  context ") < text.index("\n  driver start") < text.index("\nunexplained "), text)
    done = box.tare("report", rec, "--by", "owner", "--sort", "nix")
    check_equal(done.code, 2, done)
    check_says(done.err, "--sort nix", "there is at, device, label, bytes, count")
    check_equal(done.out, "")


@case
def a_row_of_json_lines_says_its_table(box):
    rec = hostile_recording(box)
    rows = [json.loads(line) for line in box.tare("report", rec, "--by", "phase", "-F", "jsonl").out.splitlines()]
    want = json.loads(box.tare("report", rec, "--by", "phase", "--json").out)
    check_equal([row["label"] for row in rows if row["table"] == "rows"], [row["label"] for row in want["rows"]])

@case
def text_is_sorted_by_what_data_has(box):
    """Every column of --csv, also where the table on the screen does not show it; on a GPU and on the CPU alone."""
    if WRAPPER:
        raise Skip("without the simulated driver an emulator loads nothing into its program")
    box.record(fixture("e2e_tensors", "new"), rec="gpu.tare")
    box.record(fixture("e2e_cpu_tensors"), rec="cpu.tare", sim=None)
    for rec, views in (("gpu.tare", ("owner", "process", "library", "line", "category", "tensor")),
                       ("cpu.tare", ("owner", "process", "library", "line", "category", "tensor"))):
        for view in views:
            data = box.tare("report", rec, "--by", view, "--csv").out.splitlines()
            for name in set(data[0].split(",")) - {"simulated"}:  # in data alone, and the same in each row
                for key in (name, "-" + name):
                    done = box.tare("report", rec, "--by", view, "--sort=" + key)
                    check_equal(done.code, 0, rec, view, done)


@case
def rows_are_in_the_order_of_a_column_that_is_not_shown(box):
    box.record(fixture("e2e_tensors", "new"))

    def labels(*more):
        out = box.tare("report", "rec.tare", "--at", "end", *more).out
        return [label for line in out.splitlines() for label in known if re.match(" +%s  " % re.escape(label), line)]

    rows = list(csv.DictReader(box.tare("report", "rec.tare", "--at", "end", "--by", "owner", "--csv").out.splitlines()))
    known = [row["label"] for row in rows]
    check(len(known) > 2, rows)
    for key, sign in (("count", -1), ("-count", 1), ("driver_ns", -1)):
        wanted = [row["label"] for row in sorted(rows, key=lambda row: sign * int(row[key.lstrip("-")]))]
        check_equal(labels("--by", "owner", "--sort=" + key), wanted, key)

@case
def rows_stand_in_the_order_of_the_first_column(box):
    """A line that has most at the end, but not at the peak, is not above one that has more at the peak."""
    needs_exec()
    with open(box.path("grows.py"), "w", encoding="utf-8") as file:
        file.write("def take():\n    return bytearray(30 << 20)\nkept = [take()]\nother = bytearray(40 << 20)\n"
                   "most = bytearray(100 << 20)\ndel most\nkept += [take(), take()]\n")
    box.record([PYTHON, "grows.py"], sim=None, options=["--host=full"])
    text = box.tare("report", "rec.tare", "--by", "line", "--at", "peak", "--at", "end").out
    rows = re.findall(r"grows\.py:(\d) .*?(\d+\.\d)", text)
    check_equal([line for line, _ in rows], ["5", "4", "2"], text)
    sizes = [float(size) for _, size in rows]
    check_equal(sizes, sorted(sizes, reverse=True), text)


main()
