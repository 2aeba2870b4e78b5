#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a page of a large recording costs: to make it, to open it, to keep it open, and to use it. Prints, and judges nothing.

    tests/bench/bench_page.py TARE LIBC10_CUDA [EVENTS [LIVE [LINES]]]      10000000 100000 200 unless told otherwise
    tests/bench/bench_page.py TARE REC                                      of a recording that is there

The first makes the recording (storm.py on the simulated GPU: so many blocks handed out and taken back). Chromium is driven as the
tests do it. "wall" is by the clock, and longer where others use the machine; "CPU" is that of tare, or of the renderer, the process
of Chromium that has the page. Its memory is its PSS: what is its own and its share of what it has with others. A click, a brush and a
key count from the event to the second frame after it, when what it changed is on the screen; the median and the longest of ROUNDS, and
what one of them costs the renderer.
"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
import browser  # pylint: disable=wrong-import-position

ROUNDS = 9
TICKS = os.sysconf("SC_CLK_TCK")
SETTLED = "new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))"


def run(argv, folder):
    """Seconds by the clock, seconds of the processor, MiB at most."""
    begin = time.monotonic()
    child = subprocess.Popen(argv, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    if status:
        sys.exit("%s ended with %d" % (" ".join(argv), status))
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def record(tare, library, numbers, folder):
    storm = [tare, "record", "-f", "-o", "big.tare", "--cap", "64GiB", "--sim", "h200", "--", sys.executable, os.path.join(HERE, "storm.py")]
    run(storm + [library] + numbers, folder)
    return os.path.join(folder, "big.tare")


def cpu_of(pid):
    with open("/proc/%d/stat" % pid, encoding="ascii") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def renderers(page):
    """Seconds of the processor of each process of Chromium that may have the page: there are spare ones."""
    return {one["id"]: cpu_of(one["id"]) for one in page.browser.call("SystemInfo.getProcessInfo")["processInfo"] if one["type"] == "renderer"}


def pss(pid):
    with open("/proc/%d/smaps_rollup" % pid, encoding="ascii") as maps:
        return int(next(line for line in maps if line.startswith("Pss:")).split()[1]) / 1024


def show(what, *figures):
    print("%-44s %s" % (what, ", ".join("%s %s" % f for f in figures)), flush=True)


def open_page(page, path):
    """As a person does: a tab that has nothing, then the file; until a frame with the whole page is drawn. Also by whom."""
    page.call("Page.navigate", url="about:blank")
    page.browser.wait("Page.loadEventFired", page.session)
    before, begin = renderers(page), time.monotonic()
    page.call("Page.navigate", url="file://" + path)
    page.browser.wait("Page.loadEventFired", page.session)
    page.js(SETTLED)
    wall = time.monotonic() - begin
    if not page.js("document.querySelectorAll('#answer').length"):
        sys.exit("the script of the page did not run")
    cpu, pid = max((after - before.get(pid, 0), pid) for pid, after in renderers(page).items())
    return wall, cpu, pid


def timed(page, act):
    """Milliseconds from the first event of `act` until what it changed is drawn."""
    page.js("window.began = 0; for (const kind of ['mousedown', 'mouseup', 'keydown']) addEventListener(kind, e => began = e.timeStamp, { capture: true, once: kind != 'mouseup' })")
    act()
    return page.js(SETTLED + ".then(() => performance.now() - began)")


def use(page, what, acts):
    before = renderers(page)
    spans = [timed(page, act) for act in acts]
    cpu = max(after - before.get(pid, 0) for pid, after in renderers(page).items()) / len(acts)
    show(what, ("CPU of one", "%.0f ms" % (1000 * cpu)), ("median", "%.0f ms" % statistics.median(spans)), ("longest", "%.0f ms" % max(spans)))


def look(path):
    page = browser.page(1400)
    wall, cpu, pid = open_page(page, path)
    show("opened, the first time", ("wall", "%.2f s" % wall), ("CPU", "%.2f s" % cpu))
    show("memory of the renderer", ("PSS", "%.0f MiB" % pss(pid)), ("heap of the script", "%.0f MiB" % (page.js("performance.memory.usedJSHeapSize") / 2**20)))
    again = [open_page(page, path) for _ in range(3)]
    show("opened again, the best of 3", ("wall", "%.2f s" % min(wall for wall, _, _ in again)), ("CPU", "%.2f s" % min(cpu for _, cpu, _ in again)))
    places = [.1 + .8 * i / (ROUNDS - 1) for i in range(ROUNDS)]
    use(page, "click on a moment", [lambda x=x: page.click("#plot", at=(x, .4)) for x in places])
    page.js("document.getElementById('plot').focus()")
    use(page, "arrow key in the plot", [lambda: page.key("ArrowLeft")] * ROUNDS)
    use(page, "range brushed", [lambda x=x: page.click("#plot", at=(x / 3, .4), to=(.95 - x / 3, .4)) for x in places])
    page.open("file://" + path + "#by=line")
    use(page, "letter in the search", [lambda c=c: (page.js("document.getElementById('q').focus()"), page.key(c)) for c in "storm.py1"])
    page.open("file://" + path + "#layers=line")
    use(page, "click, stacked by line", [lambda x=x: page.click("#plot", at=(x, .4)) for x in places])
    show("memory of the renderer, after all that", ("PSS", "%.0f MiB" % pss(again[-1][2])))


def main():
    tare, given = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    folder = tempfile.mkdtemp(prefix="tare-bench-")
    try:
        rec = given if os.path.isdir(given) else record(tare, given, sys.argv[3:] or ["10000000", "100000", "200"], folder)
        for what, args in (("tare report", []), ("tare report --html", ["--html", "page.html"])):
            wall, cpu, most = run([tare, "report", rec] + args, folder)
            show(what, ("wall", "%.1f s" % wall), ("CPU", "%.1f s" % cpu), ("memory", "%.0f MiB" % most))
        page = os.path.join(folder, "page.html")
        show("file", ("size", "%.2f MB" % (os.path.getsize(page) / 1e6)))
        look(page)
    finally:
        shutil.rmtree(folder)


main()
