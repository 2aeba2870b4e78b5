#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every kind of page, at three widths and in both themes: nothing is wider than the window, cut off, or drawn over something else,
the script complains of nothing, and axe-core finds nothing. Each is shown in one of the six ways, another one each; with TARE_TEST_LONG in all.
TARE_TEST_PICTURES is a folder for a picture of each page that was shown.

    TARE_E2E_BUILD=build tests/e2e/t_page_kinds.py CASE
    TARE_TEST_LONG=1 TARE_TEST_PICTURES=/tmp/pictures TARE_E2E_BUILD=build tests/e2e/t_page_kinds.py
"""

import os
import pickle

import pages
from caching_allocator import Allocator, course
from harness import IS_LONG, MIB, case, check_equal, fixture, main
from held import SWEEP, hold, hold_sweep
from hostile import poison
from snapshots import write

WAYS = [(width, theme) for width in (360, 800, 1440) for theme in ("light", "dark")]
PICTURES = os.environ.get("TARE_TEST_PICTURES")

# What is wrong with how a page is laid out: text beyond its picture or over other text of it, an axis with a label twice or in two units, elements beyond
# the window, cells and buttons whose text is cut off.
LAID_OUT = """(() => {
const bad = [], seen = e => e.getClientRects().length && e.checkVisibility();
const say = (what, e) => bad.push([what, (e.closest("section") || {}).id || "", e.textContent.slice(0, 80)]);
const inside = (a, b, by) => a.left >= b.left - by && a.right <= b.right + by && a.top >= b.top - by && a.bottom <= b.bottom + by;
const meets = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1.5 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
for (const svg of document.querySelectorAll("svg")) {
  if (!seen(svg)) continue;
  const box = svg.getBoundingClientRect(), texts = [...svg.querySelectorAll("text")].filter(t => t.textContent.trim()).map(t => [t, t.getBoundingClientRect()]);
  const labels = [...svg.querySelectorAll("text.soft[text-anchor=end]")].map(t => t.textContent), units = new Set(texts.map(([t]) => /^[\\d.]+ (ns|µs|ms|s)$/.exec(t.textContent)?.[1]).filter(Boolean));
  if (new Set(labels).size < labels.length || units.size > 1) say("an axis " + labels + " " + [...units], svg);
  texts.forEach(([t, r], i) => {
    if (!inside(r, box, 2)) say("beyond its picture", t);
    if (texts.slice(i + 1).some(([o, q]) => meets(r, q))) say("over other text", t);
  });
}
for (const e of document.querySelectorAll("h1, h2, h3, p, li, td, th, button, select, input, summary, dd, dt, svg")) {
  if (!seen(e)) continue;
  const r = e.getBoundingClientRect(), style = getComputedStyle(e);
  if (!e.closest(".scroll") && (r.left < -1 || r.right > innerWidth + 1)) say("beyond the window", e);
  if (style.overflowX === "hidden" && style.textOverflow !== "ellipsis" && e.scrollWidth > e.clientWidth + 1 && e.namespaceURI !== "http://www.w3.org/2000/svg") say("cut off", e);
}
return bad;
})()"""


def record(box, *argv, **more):
    box.record(fixture(*argv), **more)


def page_of(box, rec="rec.tare", *args):
    pages.make(box, rec, "page.html", *args)


def compare(box, *args):
    done = box.tare("diff", *args, "--html", "page.html")
    check_equal(done.code, 0, done)


def look(box, kind, number, at=""):
    """A page in its way, or in all of them."""
    for way, (width, theme) in enumerate(WAYS):
        if not IS_LONG and way != number % len(WAYS):
            continue
        page = pages.show(box, at, width=width, fresh=True, prefers_color_scheme=theme)
        check_equal(page.js("[!!document.getElementById('answer'), document.documentElement.dataset.theme]"), [True, theme], kind)
        if PICTURES:
            os.makedirs(PICTURES, exist_ok=True)
            page.picture(os.path.join(PICTURES, "%s-%d-%s.png" % (kind, width, theme)))
        check_equal(page.js(LAID_OUT), [], kind, width, theme)
        check_equal(page.audit()[1], [], kind, width, theme)


KINDS = []


def kind(make):
    """A case that makes a page and looks at it."""
    number = len(KINDS)
    KINDS.append(make)

    def look_at(box):
        look(box, make.__name__, number, make(box) or "")

    look_at.__name__, look_at.__doc__ = make.__name__, make.__doc__
    case(look_at)
    return make


@kind
def phases_and_a_heap(box):
    record(box, "e2e_phases", options=("--host=full",))
    page_of(box)


@kind
def a_training(box):
    record(box, "e2e_training")
    page_of(box)


@kind
def tensors(box):
    record(box, "e2e_tensors")
    page_of(box)


@kind
def a_heap_alone(box):
    pages.record_heap(box)
    page_of(box)


@kind
def two_gpus(box):
    record(box, "e2e_contexts", env={"TARE_SIM_DEVICES": "2"})
    page_of(box)


@kind
def ranks_of_a_job(box):
    os.makedirs(box.path("job"))
    for rank, size in enumerate((64, 256, 96)):
        for number, order in enumerate(["alloc %d" % (size * MIB), "exit 0"], 1):
            with open(box.path("r%d.%d" % (rank, number)), "w", encoding="utf-8") as text:
                text.write(order + "\n")
        record(box, "e2e_rank", box.path(), str(rank), rec="job/p.r%d.tare" % rank,
               env={"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "3", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500", "TORCHELASTIC_RUN_ID": "17", "TARE_SIM_DEVICES": "3"})
    page_of(box, "job")


@kind
def two_compared(box):
    hold(box, "a.tare", 8 * MIB)
    hold(box, "b.tare", 8 * MIB, 24 * MIB)
    compare(box, "a.tare", "b.tare")


@kind
def many_compared(box):
    hold_sweep(box)
    compare(box, *SWEEP)


@kind
def a_server(box):
    pages.serve(box)
    page_of(box)


@kind
def graphs(box):
    record(box, "e2e_torch_graphs")
    page_of(box)


@kind
def out_of_memory(box):
    record(box, "e2e_torch_oom", "fragmented", options=("--vram", "1GiB"))
    page_of(box)


@kind
def tensors_on_the_cpu(box):
    record(box, "e2e_cpu_tensors")
    page_of(box)


@kind
def nothing_recorded(box):
    box.record(["true"], sim=None)
    page_of(box)


@kind
def killed(box):
    record(box, "e2e_ends", "kill", exit_code=137)
    page_of(box)


@kind
def a_snapshot_of_pytorch(box):
    model = Allocator(seed=1)
    course(model, 600, 1)
    done = box.tare("import", write(box, pickle.dumps(model.snapshot())), "-o", box.path("rec.tare"))
    check_equal(done.code, 0, done)
    page_of(box)


@kind
def without_names(box):
    record(box, "e2e_phases")
    page_of(box, "rec.tare", "--confidential")


@kind
def hostile_names(box):
    record(box, "e2e_tensors", "new")
    poison(box, "rec.tare")
    page_of(box)


if __name__ == "__main__":
    main()
