#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of `tare diff A B… --html FILE`, as Chromium shows it: its figures are those of tare diff --json.

    TARE_E2E_BUILD=build tests/e2e/t_page_diff.py CASE
"""

import json
import os

import browser
from harness import MIB, case, check, check_equal, check_says, fixture, main
from held import SWEEP, hold, hold_sweep
from hostile import STEERS, poison

# Of every row of a table: what it is, and its exact figures.
ROWS = """[...document.querySelectorAll('#%s tbody tr')].map(r => [r.dataset.path || r.dataset.band || r.dataset.side || r.className,
    [...r.querySelectorAll('[data-bytes]')].map(c => c.dataset.bytes === '' ? null : Number(c.dataset.bytes))])"""
PAGE = []


def make(box, *args, code=0):
    done = box.tare("diff", *args, "--html", "page.html")
    check_equal(done.code, code, done)
    return done


def show(box, at="", width=1000):
    if not PAGE:
        PAGE.append(browser.page(width))
    PAGE[0].resize(width)
    PAGE[0].show(box.path("page.html"), at)
    check_equal(PAGE[0].complaints(), [], at)
    check(PAGE[0].js("!!document.getElementById('answer')"), "the script did not run")
    return PAGE[0]


def data(box, *args):
    done = box.tare("diff", *args, "--json")
    check_equal(done.code, 0, done)
    return json.loads(done.out)


def alter(box, change):
    """What the page was given, otherwise."""
    with open(box.path("page.html"), encoding="utf-8") as text:
        before, rest = text.read().split('id="data">')
    given, after = rest.split("</script>", 1)
    given = json.loads(given)
    change(given)
    with open(box.path("page.html"), "w", encoding="utf-8") as text:
        text.write(before + 'id="data">' + json.dumps(given).replace("<", "\\u003c") + "</script>" + after)


@case
def figures_are_those_of_json(box):
    hold(box, "a.tare", 8 * MIB)
    hold(box, "b.tare", 8 * MIB, 24 * MIB)
    sides = ["a.tare", "b.tare", "--at", "end"]
    make(box, *sides)
    for by in ("", "owner", "line"):
        found = data(box, *sides, *(["--by", by] if by else []))
        page = show(box, "#by=" + by)
        shown = dict(page.js(ROWS % "changes"))
        changed = {r["path"]: r for r in found["rows"] if r["device"] == 0 and (r["difference_bytes"] or r["side"] != "both")}
        check_equal(set(k for k in shown if k not in ("dim", "total")), set(changed), by)
        for path, row in changed.items():
            check_equal(shown[path], [row["before_bytes"] if row["side"] != "after" else None, row["after_bytes"] if row["side"] != "before" else None, row["difference_bytes"]], by)
        total = found["totals"][0]
        check_equal(shown["total"], [total["before_bytes"], total["after_bytes"], total["difference_bytes"]], by)
    total = data(box, *sides)["totals"][0]
    lead = page.js("[...document.querySelectorAll('.lead [data-bytes]')].slice(0, 3).map(e => Number(e.dataset.bytes))")
    check_equal(lead, [total["difference_bytes"], total["before_bytes"], total["after_bytes"]])
    bars = page.js("[...document.querySelectorAll('#bars [data-bytes]')].map(e => Number(e.dataset.bytes))")
    check_equal(sum(bars[:-1]), total["difference_bytes"], "bars sum to the change")


@case
def both_curves_are_read(box):
    hold(box, "a.tare", 8 * MIB)
    hold(box, "b.tare", 8 * MIB, 24 * MIB)
    make(box, "a.tare", "b.tare")
    most = [json.loads(box.tare("report", rec, "--json").out)["devices"][0]["used_bytes"] for rec in ("a.tare", "b.tare")]
    page = show(box)
    used = dict(page.js(ROWS % "legend"))["used"]
    check_equal(used, most + [most[1] - most[0]])
    check_equal(page.js("[...document.querySelectorAll('path.curve')].map(p => p.dataset.side)"), ["0", "1"])
    page.click("#plot", at=(.5, .3))
    check("t=" in page.js("location.hash"), page.js("location.hash"))
    page.js("document.getElementById('plot').focus()")
    before = page.js("document.getElementById('plot').getAttribute('aria-valuetext')")
    page.key("End")
    page.key("ArrowLeft")
    check(page.js("document.getElementById('plot').getAttribute('aria-valuetext')") != before, before)
    page.click("#plot", at=(.3, .3), to=(.7, .3))
    check("from=" in page.js("location.hash"), page.js("location.hash"))
    page.click("#legend tr[data-band=context] button")
    check_equal(page.js("document.querySelector('#legend [aria-pressed=true]').textContent"), "context")


@case
def two_instants_of_one_recording_have_one_course(box):
    hold(box, "a.tare", 8 * MIB, 24 * MIB)
    make(box, "a.tare", "--at", "peak", "--at", "end")
    page = show(box)
    used = dict(page.js(ROWS % "legend"))["used"]
    check_equal(used, [json.loads(box.tare("report", "a.tare", "--json").out)["devices"][0]["used_bytes"]])
    check_equal(page.js("[...document.querySelectorAll('path.curve')].map(p => p.dataset.side)"), ["0"])
    check_equal(page.js("document.querySelectorAll('circle.dot').length"), 2)
    said = page.js("document.body.innerText")
    check("Over time" in said and "Both over time" not in said and "at peak at" not in said and "own length" not in said, said)


@case
def a_gpu_that_has_another_number_there(box):
    """Of a GPU that is the first's by its UUID and has number 1 in the second, beside another with number 0, both curves are drawn."""
    hold(box, "a.tare", 8 * MIB)
    hold(box, "b.tare", 8 * MIB, 24 * MIB)
    make(box, "a.tare", "b.tare")
    used = dict(show(box).js(ROWS % "legend"))["used"]

    def renumber(data):
        check_equal({tuple(p["places"][0]) for p in data["pairs"]}, {(0, 0)})
        for pair in data["pairs"]:
            pair["places"][0] = [0, 1]
        for time in data["sides"][1]["time"].values():
            mine = time["panels"][0]
            time["panels"] = [dict(mine, used_bytes=[0] * len(mine["t_ns"]), peak_used_bytes=0), dict(mine, device=1)]

    alter(box, renumber)
    check_equal(dict(show(box).js(ROWS % "legend"))["used"], used)


@case
def many_in_a_grid(box):
    hold_sweep(box)
    make(box, *SWEEP)
    page = show(box)
    small = page.js("[...document.querySelectorAll('.small')].map(b => [b.dataset.side, Number(b.dataset.bytes)])")
    check_equal(len(small), 4)
    for side, most in small:
        check_equal(most, json.loads(box.tare("report", SWEEP[int(side)], "--json").out)["devices"][0]["used_bytes"], side)
    check_equal(page.js("[...document.querySelectorAll('.smalls > b')].map(b => b.textContent)"), ["1", "4", "adam", "sgd"])
    page.click(".small[data-side='3']")
    check_equal(page.js("location.hash"), "#pair=3")
    total = data(box, SWEEP[0], SWEEP[3])["totals"][0]
    check_equal(dict(page.js(ROWS % "changes"))["total"], [total["before_bytes"], total["after_bytes"], total["difference_bytes"]])
    for width in (360, 800, 1400):
        check(show(box, width=width).js("document.documentElement.scrollWidth <= innerWidth"), width)


REACH = "[...document.querySelectorAll('.small')].map(b => Math.max(...[...b.querySelectorAll('path[style]')].map(p => p.getBBox().x + p.getBBox().width)))"


@case
def a_short_run_among_long_ones_can_be_seen(box):
    """Over its own length, as the curves below."""
    for rec, seconds in (("a.tare", 0), ("b.tare", 0), ("c.tare", 3)):
        box.record(["sh", "-c", "sleep %d; exec " % seconds + " ".join(fixture("e2e_phases"))], rec=rec)
    make(box, "a.tare", "b.tare", "c.tare")
    short, _, whole = show(box).js(REACH)
    check(short < whole / 2, short, whole)
    short, _, whole = show(box, "#run=1").js(REACH)
    check(abs(short - whole) < 1, short, whole)


@case
def where_memory_was_comes_first(box):
    """Not the GPU that neither used, beside tensors on the CPU."""
    for rec in ("a.tare", "b.tare"):
        box.record(fixture("e2e_cpu_tensors"), rec=rec)
    make(box, "a.tare", "b.tare")

    def enlarge(data):
        """The fixture's tensors are of some bytes, which are as good as none."""
        for total in (t for p in data["pairs"] for t in p["totals"] if t["device"] is None):
            total["before_bytes"] = total["after_bytes"] = 8 * MIB

    alter(box, enlarge)
    page = show(box)
    check_equal(page.js("[...document.querySelectorAll('.lead')].map(p => p.dataset.place)"), ["-1"])
    check(dict(page.js(ROWS % "changes"))["total"][0] > 0, "the rows are those of another place")
    check(dict(page.js(ROWS % "legend"))["used"][0] > 0, "the curves are those of another place")


@case
def what_it_refuses_and_what_it_takes(box):
    hold(box, "a.tare", 8 * MIB)
    with open(box.path("saved.json"), "w", encoding="utf-8") as out:
        out.write(box.tare("report", "a.tare", "--json").out)
    make(box, "a.tare", "saved.json")
    check("saved report" in show(box).js("document.getElementById('time').textContent"))
    make(box, "a.tare@peak", "a.tare@end")
    check_says(show(box).js("document.getElementById('title').textContent"), "a.tare at peak", "a.tare at end")
    check_says(make(box, "a.tare", "a.tare", "--by", "line", code=2).err, "every view")
    check_says(box.tare("diff", "a.tare", "a.tare", "a.tare").err, "more of them with --html")
    check_says(box.tare("diff", "a.tare", "a.tare", "--confidential").err, "goes with --html")
    check_says(make(box, "a.tare", "missing.tare", code=125).err, "missing.tare")
    box.record(["true"], rec="none.tare", sim=None)
    make(box, "none.tare", "none.tare")
    check("No memory was recorded" in show(box).js("document.getElementById('answer').textContent"))


@case
def no_name_becomes_markup_or_is_told(box):
    box.record(fixture("e2e_phases"), rec="a.tare")
    make(box, "a.tare@peak", "a.tare@end", "--confidential")
    with open(box.path("page.html"), encoding="utf-8") as text:
        told = text.read().split('id="data">')[1].split("</script>")[0]
    for name in ("e2e_phases", "phases.c", "set_up", "a.tare", os.getcwd()):
        check(name not in told, name)
    poison(box, "a.tare")
    make(box, "a.tare@peak", "a.tare@end")
    with open(box.path("page.html"), encoding="utf-8") as text:
        page = text.read()
    check(not STEERS.search(page), STEERS.search(page))
    check("<" not in page.split('id="data">')[1].split("</script>")[0], "a name could end the element that it is in")
    for at in ("", "#by=line", "#q=script&pair=99&place=7&t=soon&from=9&to=1"):
        shown = show(box, at)
        check_equal(shown.js("document.querySelectorAll('main script, main [onload], main [onerror]').length"), 0)
        check(not STEERS.search(shown.js("document.body.innerText.replace(/\\n/g, ' ')")), at)


if __name__ == "__main__":
    main()
