# SPDX-License-Identifier: Apache-2.0
"""Pages of recordings, as the tests of their sections make, open and read them. All of a file share one tab of one browser."""

import json
import os
import re

import browser
from harness import ROOT, check_equal, fixture

TAB = []


def make(box, rec="rec.tare", name="page.html", *args):
    """Writes the page of a recording; its text."""
    done = box.tare("report", rec, "--html", name, *args)
    check_equal(done.code, 0, done)
    with open(box.path(name), encoding="utf-8") as page:
        return page.read()


def serve(box):
    """Records a server."""
    box.record(["python3", os.path.join(ROOT, "tests", "e2e", "python", "server.py"), *fixture("libc10_cuda.so")])


def record_heap(box):
    """Many blocks that pass, some that stay, and a large one."""
    with open(box.path("heap.py"), "w", encoding="utf-8") as program:
        program.write("def passing():\n    for _ in range(300):\n        bytearray(3000)\n"
                      "def kept():\n    return [bytearray(1500) for _ in range(200)]\na = kept()\nb = bytearray(9 << 20)\npassing()\n")
    box.record(["python3", "heap.py"], sim=None, options=["--host=full"])


def data_of(text):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S).group(1))


def show(box, at="", name="page.html", width=1000, fresh=False, **media):
    """A page at a place of it, `fresh`: loaded there. Nothing is wider than the window, nothing was fetched or complained of, and each figure is one that people can read."""
    if not TAB:
        TAB.append(browser.page(width))
    page = TAB[0]
    page.resize(width)
    page.media(**media)
    if fresh:
        page.open("file://" + box.path(name) + at)
    else:
        page.show(box.path(name), at)
    check_equal(page.complaints(), [], at)
    check_equal(page.js("[document.documentElement.scrollWidth > innerWidth, /NaN|Infinity|undefined|\\[object|\\u2212|\\d{4,} %/.test(document.body.innerText)]"), [False, False], "wider than the window; no figure", width, at)
    return page


def say(box, *args):
    done = box.tare(*args, "--json")
    check_equal(done.code, 0, done)
    return json.loads(done.out)


def report(box, *args, rec="rec.tare"):
    return say(box, "report", rec, *args)


def figures(page, selector):
    """Each row's own name, and its figures."""
    return page.js("[...document.querySelectorAll(%s)].map(r => [Object.values(r.dataset)[0], [...r.querySelectorAll('[data-bytes]')].map(c => c.dataset.bytes === '' ? null : Number(c.dataset.bytes))])"
                   % json.dumps(selector))
