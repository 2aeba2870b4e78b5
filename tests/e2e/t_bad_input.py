#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every view and every format of what a recording can be at its worst: cut short, without events, of 2^60 bytes, with names that are
quotes, control characters, no UTF-8 or markup. What there is stands in the lists that the program is made of, so a new view or format
is in this, too.

    TARE_E2E_BUILD=build tests/e2e/t_bad_input.py CASE
"""

import gzip
import html.parser
import json
import os
import pickle
import re
import shutil
import sqlite3

import browser
import hostile
from hostile import STEERS, poison, run
from harness import ROOT, case, check, check_equal, fixture, main, needs_exec, tare_argv
from snapshots import write

NAMES = ["<script>window.bad = 1</script>", "a;b 7", "\"'`", "\x1b[31m\nFORGED", "\u202egnp.exe", "%s%n", "\udcff\udcfe"]
HUGE = 1 << 60
LEDGER_MOST = 1 << 44
PAGE = []  # one for all cases: a browser takes a second to start


def names_of(path, macro):
    with open(os.path.join(ROOT, path), encoding="utf-8") as text:
        return re.findall(r'^%s\w*\(\w+,\s*"(\w+)"' % macro, text.read(), re.M)


FILES = names_of("src/export/format.def", "TARE_EXPORT")
TABLES = names_of("src/base/emit_format.def", "TARE_FORMAT")
VIEWS = names_of("src/view/by.def", "TARE_BY")
FORMS = {"markdown": "md", "jsonl": "lines", "tsv": "text", "html": "drawn"}  # as hostile.py calls them


class Drawn(html.parser.HTMLParser):
    """A page of tables and pictures, without a script."""

    def handle_starttag(self, tag, attributes):
        check(tag != "script", "there is a script in it")
        check(not [name for name, _ in attributes if name in ("src", "href") or name.startswith("on")], tag, attributes)


hostile.FORMATS["drawn"] = lambda text: Drawn().feed(text)


# ---- what is read ----

def cut_short(box):
    box.record(fixture("e2e_phases"), rec="bad.tare")
    box.unchecked["bad.tare"] = "it is cut short"
    for name in os.listdir(box.path("bad.tare")):
        if name.endswith(".events"):
            os.truncate(box.path("bad.tare", name), os.path.getsize(box.path("bad.tare", name)) * 2 // 3)


def without_events(box):
    box.record(["true"], rec="bad.tare", sim=None)


def imported(box, size, names):
    frames = [{"name": n, "filename": n + ".py", "line": i} for i, n in enumerate(names)]
    block = {"address": 1 << 40, "size": size, "requested_size": size, "state": "active_allocated", "frames": frames}
    segment = {"device": 0, "address": 1 << 40, "total_size": size, "allocated_size": size, "active_size": size, "requested_size": size, "stream": 0,
               "segment_type": "large", "segment_pool_id": (0, 0), "is_expandable": False, "frames": frames, "blocks": [block]}
    trace = [{"action": action, "addr": 1 << 40, "size": size, "stream": 0, "time_us": 1700000000000000 + i, "frames": frames} for i, action in enumerate(("segment_alloc", "alloc"))]
    snapshot = {"segments": [segment], "device_traces": [trace], "allocator_settings": {}, "external_annotations": []}
    done = box.tare("import", write(box, pickle.dumps(snapshot)), "-o", box.path("bad.tare"))
    check_equal(done.code, 0, done)


def resize(box, rec, was, to):
    """Every size of so many bytes becomes another; how many there were."""
    count = 0
    for name in os.listdir(box.path(rec)):
        with open(box.path(rec, name), "r+b") as file:
            data = file.read()
            count += data.count(was.to_bytes(8, "little"))
            file.seek(0)
            file.write(data.replace(was.to_bytes(8, "little"), to.to_bytes(8, "little")))
    return count


def enormous(box):
    """2^60 bytes: tare import refuses such a size, so it is put into the recording, of which the ledger takes no more than 2^44."""
    size = 0x3456789a00
    imported(box, size, ["main"])
    check(resize(box, "bad.tare", size, HUGE) >= 2, "no size was changed")
    used = box.report("bad.tare", "end")["devices"][0]["used_bytes"]
    check_equal(used, LEDGER_MOST)


def odd_names(box):
    imported(box, 2 << 20, NAMES)


def poisoned(box):
    box.record(fixture("e2e_phases"), rec="bad.tare")
    check(poison(box, "bad.tare") > 3, "no texts")


# ---- what is written ----

def texts(value):
    """Every text of what JSON says, names of members too."""
    if isinstance(value, dict):
        return [t for k, v in value.items() for t in [k] + texts(v)]
    if isinstance(value, list):
        return [t for v in value for t in texts(v)]
    return [value] if isinstance(value, str) else []


def good(form, path):
    """A file of another program is whole."""
    with open(path, "rb") as file:
        data = file.read()
    if form == "sqlite":
        check_equal(sqlite3.connect(path).execute("PRAGMA integrity_check").fetchall(), [("ok",)])
    elif form == "pprof":
        gzip.decompress(data)
    elif form == "memory_viz":
        pickle.loads(data)
    elif form in ("speedscope", "chrome", "dhat"):
        check(not [text for text in texts(json.loads(data.decode("utf-8"))) if STEERS.search(text)], form)
    elif form == "collapsed":
        for line in data.decode("utf-8").splitlines():
            check(not STEERS.search(line) and int(line.rsplit(" ", 1)[1]) >= 0, repr(line))


def every_table(box, *command):
    for name in TABLES:
        run(box, tare_argv(*command, "--format", name), FORMS.get(name, name))


def everything(box, in_browser):
    needs_exec()
    for view in VIEWS:
        run(box, tare_argv("report", "bad.tare", "--by", view))
    every_table(box, "report", "bad.tare")
    for view in ("stack",):
        every_table(box, "report", "bad.tare", "--by", view)
    every_table(box, "diff", "bad.tare@peak", "bad.tare@end")
    every_table(box, "info", "bad.tare")
    every_table(box, "explain", "bad.tare")
    for name in FILES:
        done = run(box, tare_argv("report", "bad.tare", "--format", name, "-o", "out." + name))
        check_equal(done.returncode, 0, repr(done))
        good(name, box.path("out." + name))
    run(box, tare_argv("report", "bad.tare", "--svg", "out.svg"), "svg", box.path("out.svg"))
    run(box, tare_argv("check", "bad.tare", "--max", "used=1GiB"))
    run(box, tare_argv("check", "bad.tare", "--max", "used=1GiB", "--junit", "out.xml"))
    run(box, tare_argv("top", "--once", "."))
    run(box, tare_argv("top", "--json", "."), "json")
    served = run(box, tare_argv("serve", "--once", "."))
    check(served.stdout.endswith(b"# EOF\n"), served.stdout[-200:])
    run(box, tare_argv("whatif", "bad.tare", "--best"))
    check_equal(run(box, tare_argv("report", "bad.tare", "--confidential", "--html", "none.html")).returncode, 0)
    for argv in (["report", "bad.tare", "--html", "page.html"], ["diff", "bad.tare@peak", "bad.tare@end", "--html", "two.html"]):
        done = run(box, tare_argv(*argv))
        check(done.returncode == 0 or argv[0] == "diff", repr(done))
        if done.returncode == 0 and in_browser:
            seen(box, argv[-1])


def seen(box, name):
    """A page as Chromium shows it: drawn, no name became a script, and each figure is one."""
    page = PAGE[0] if PAGE else PAGE.append(browser.page()) or PAGE[0]
    page.open("file://" + box.path(name))
    check_equal(page.complaints(), [], name)
    text, sections, scripts, bad = page.js("[document.getElementById('main').textContent, document.querySelectorAll('#main section').length, document.querySelectorAll('script').length, typeof window.bad]")
    check(sections >= 1 and (scripts, bad) == (2, "undefined"), name, sections, scripts, bad)
    check(not re.search("NaN|Infinity|undefined", text) and not STEERS.search(text), name, text[:2000])


for bad in (cut_short, without_events, enormous, odd_names, poisoned):
    def shown(box, make=bad):
        make(box)
        everything(box, make not in (without_events, poisoned))  # of these t_page has the pages

    shown.__name__ = bad.__name__
    case(shown)


@case
def views_agree_whatever_a_size_is(box):
    """Segments and blocks that damage made larger than any memory, or than what they lie in."""
    box.record(fixture("e2e_training"), rec="good.tare")
    said = [json.loads(line) for line in box.tare("dump", "good.tare", "--json").out.splitlines()]
    for kind, key in (("tensor", "bytes"), ("event", "granted")):
        size = max(r[key] for r in said if r.get("kind") == kind and isinstance(r.get(key), int) and r[key] < LEDGER_MOST)
        for to in (LEDGER_MOST, LEDGER_MOST - 1, 1 << 43, HUGE):
            shutil.rmtree(box.path("bad.tare"), ignore_errors=True)
            shutil.copytree(box.path("good.tare"), box.path("bad.tare"))
            check(resize(box, "bad.tare", size, to) > 0, "no size was changed", kind)
            done = box.tare("info", "--check", "bad.tare")
            check_equal(done.code, 0, kind, size, to, done)


if __name__ == "__main__":
    main()
