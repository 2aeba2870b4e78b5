#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a page says of each row of the ledger, of other tools and of the host: its figures are those of report --json, explain --json and
--cost time --json; a row is opened by a click, by a key and by its address.

    TARE_E2E_BUILD=build tests/e2e/t_page_known.py CASE
"""

import json
import os
import pickle
import re

from caching_allocator import Allocator, course
from hostile import STEERS, poison
from harness import MIB, ROOT, case, check, check_equal, fixture, main
from pages import data_of, figures, make, say, show
from snapshots import write


def with_heap(box):
    box.record(fixture("e2e_phases"), options=("--host=full",))


@case
def tools_are_those_of_explain(box):
    with_heap(box)
    data = data_of(make(box))
    check(data["explained"], "no process is explained")
    for of in data["explained"]:
        said = say(box, "explain", "rec.tare", "--pid", str(of["pid"]))
        check_equal((of["title"], of["do_not_add"]), (said["title"], said["do_not_add"]))
        for shown, tool in zip(of["tools"], said["tools"]):
            for key in shown:
                check(key in ("max_bytes", "sampled_max_bytes") or shown[key] == tool[key], key, shown, tool)
    known = {t["word"]: t["bytes"] for t in data["explained"][0]["tools"] if t["bytes"] is not None}
    check({"nvidia-smi", "heaptrack"} <= set(known), known)
    page = show(box)
    check_equal({k: v[0] for k, v in figures(page, "#t-tools [data-tool]")}, known)
    text = page.js("document.getElementById('explain').textContent")
    for pair in data["explained"][0]["do_not_add"]:
        check("Do not add %(one)s and %(other)s: %(why)s." % pair in text, pair)
    check("valgrind" in text, "why massif is not known")


@case
def rows_say_what_json_says(box):
    """Each row of the tree has its evidence: lines as --parts has them, calls as --cost time."""
    with_heap(box)
    data, report = data_of(make(box)), say(box, "report", "rec.tare")
    rows = {(r["device"], r["path"]): r for r in data["evidence"]["rows"]}
    tree = {(d["index"], r["path"]): r for d in report["devices"] for r in d["accounts"]}
    check_equal(set(tree) - set(rows), set(), "rows of which nothing is said")
    check_equal(data["calls"]["rows"], say(box, "report", "rec.tare", "--cost", "time")["rows"])
    with open(os.path.join(ROOT, "docs", "LEDGER.md"), encoding="utf-8") as of:
        rules = set(re.findall(r"^\*\*(.+?)\.\*\*", of.read(), re.M))
    check_equal({k["rule"] for k in data["evidence"]["kinds"]} - rules, set(), "rules that docs/LEDGER.md does not have")
    compared = 0
    for key, row in rows.items():
        check(data["evidence"]["kinds"][row["kind"]]["said"], row)
        if row["lines"] and tree[key]["leaf"]:
            check_equal(sum(l["bytes"] for l in row["lines"]) + row["more_bytes"], tree[key]["bytes"], key)
        account, owner = re.match(r"[^/]*/?([^/]*)/?([^/]*)", row["path"]).groups()
        for line in row["lines"][:2]:
            place = re.match(r"(/.*:\d+)( in |$)", line["line"])
            if not place or owner == "":
                continue
            parts = [p for d in say(box, "report", "rec.tare", "--by", "line", "--line", place.group(1), "--parts", "--at", "peak")["parts"] if d["device"] == row["device"] for p in d["rows"]]
            said = [p["device_bytes"] for p in parts if p["part"] == account and p["owner"] == owner]
            check_equal(said, [line["bytes"]], row, line)
            compared += 1
    check(compared or not any(re.match("/.*:", l["line"]) for r in rows.values() for l in r["lines"]), "no line was compared")
    page = show(box)
    for (device, path), row in rows.items():
        if device != 0 or row["is_category"]:
            continue
        page.js("location.hash = %s" % json.dumps("#row=" + path.replace("/", "%2F")))
        page.js("new Promise(done => setTimeout(done, 0))")
        text = page.js("document.getElementById('known').textContent")
        check(data["evidence"]["kinds"][row["kind"]]["said"] in text, path, text)
        shown = page.js("[...document.querySelectorAll('#known [data-from]')].filter(r => r.dataset.from).map(r => [r.dataset.from, Number(r.querySelector('[data-bytes]').dataset.bytes)])")
        check_equal(shown, [[l["line"], l["bytes"]] for l in row["lines"]], path)
        calls = page.js("[...document.querySelectorAll('#known [data-call]')].map(r => r.dataset.call)")
        check(set(calls) <= {c["call"] for c in data["calls"]["rows"] if c["account"] == tree[device, path]["account"]}, path, calls)


@case
def rows_stand_below_their_parents(box):
    """Those of the end alone too. And a category says what it is, its lines, and what makes it less, whatever is in its name."""
    box.record(fixture("e2e_tensors", "new"))
    data, report = data_of(make(box)), say(box, "report", "rec.tare")
    peak, end = [[r["path"] for r in of["devices"][0]["accounts"]] for of in (report, report["also"][0])]
    only = [path for path in end if path not in peak]
    check(only and "/" in only[0] and "/" not in peak[-1], "no row is of the end alone", peak, end)
    page = show(box)
    shown = [path for path in page.js("[...document.querySelectorAll('#books [data-path]')].map(r => r.dataset.path)") if path not in ("used", "need", "unexplained")]
    check_equal(sorted(shown), sorted({*peak, *end}))
    above = []
    for path in shown:
        parent = path.rpartition("/")[0]
        while above and above[-1] != parent:
            above.pop()
        check(above or not parent, "not below its parent", path, shown)
        above.append(path)
    said = {c["category"]: c for c in data["evidence"]["categories"]}
    row = [path for path in peak if path.endswith("/buffer%2Fstate")][0]
    text = page.js("document.querySelector('[data-explained=\"%s\"]').textContent" % row)
    for words in (said["buffer/state"]["what"], said["buffer/state"]["less"], "Most of it: "):
        check(words in text, words, text)
    make(box, "rec.tare", "none.html", "--confidential")
    text = show(box, "", "none.html").js("document.getElementById('t-explained').textContent")
    check(said["buffer/state"]["less"] in text, text)


@case
def a_row_is_opened(box):
    """By a click, by Enter, by its address; closed by Escape; the focus stays on it."""
    with_heap(box)
    path = [r["path"] for r in data_of(make(box))["report"]["devices"][0]["accounts"] if r["account"] == "context"][0]
    page = show(box)
    button = "#books [data-path='%s'] button" % path
    check_equal(page.js("document.querySelectorAll('#known').length"), 0)
    page.click(button)
    state = "(b => [b.getAttribute('aria-expanded'), document.getElementById(b.getAttribute('aria-controls') || 'none') != null, document.activeElement === b, location.hash.includes('row=')])(document.querySelector(%s))" % json.dumps(button)
    check_equal(page.js(state), ["true", True, True, True])
    check("before and after the calls that made the context" in page.js("document.getElementById('known').innerText"))
    address = page.js("location.hash")
    page.key("Escape")
    check_equal(page.js(state), ["false", False, True, False])
    page.key("Enter")
    check_equal(page.js(state), ["true", True, True, True])
    page.key("Enter")
    check_equal(page.js(state), ["false", False, True, False])
    page = show(box, address, fresh=True)
    check_equal(page.js(state), ["true", True, True, True])
    check(0 < page.js("document.querySelector(%s).getBoundingClientRect().top" % json.dumps(button)) < 1000, "a link does not lead to its row")
    page = show(box, "#row=nothing%2F%3Cb%3E")
    check_equal(page.js("document.querySelectorAll('#known').length"), 0)
    for which in ("used", "need", "unexplained"):
        page = show(box, "#row=" + which)
        check(page.js("document.getElementById('known').innerText.length") > 30, which)
    page = show(box)
    page.js("document.querySelector('#t-explained [data-explained=\"%s\"] button').focus()" % path)
    page.key("Enter")
    check_equal(page.js(state), ["true", True, True, True], "a row that is explained leads to the ledger")


@case
def the_host_is_that_of_json(box):
    with_heap(box)
    data, peak = data_of(make(box)), say(box, "report", "rec.tare")
    end = peak["also"][0]
    page = show(box)
    for p in peak["host"]:
        later = [e for e in end["host"] if e["pid"] == p["pid"]][0]
        shown = dict(figures(page, "#host [data-process='%d'] [data-host]" % p["pid"]))
        for key in ("rss_bytes", "anon_bytes", "file_bytes", "shmem_bytes"):
            is_shown = key == "rss_bytes" or p[key] is not None or later[key] is not None
            check_equal(shown.get(key), [p[key], later[key]] if is_shown else None, key)
        heap = [r for d in peak["devices"] if d["heap"] for r in d["accounts"] if r["path"] == "process:%d/heap" % p["pid"]]
        ended = [r for d in end["devices"] if d["heap"] for r in d["accounts"] if r["path"] == "process:%d/heap" % p["pid"]]
        if heap and heap[0]["bytes"] >= 0.05 * MIB:
            check_equal(shown["heap"], [heap[0]["bytes"], ended[0]["bytes"] if ended else 0])
        bold = page.js("[...document.querySelectorAll('#host [data-of=\"%d\"] > p b')].map(b => Number(b.dataset.bytes))" % p["pid"])
        if p["rss_bytes"] is not None:
            check_equal(bold, [p["rss_bytes"], p["peak_rss_bytes"]])
    moments = [m for m in data["host_moments"] if m["rows"]]
    for m in moments[:: max(1, len(moments) // 4)]:
        said = {(h["pid"], h["generation"]): h for h in say(box, "report", "rec.tare", "--at", "%dns" % m["t_ns"])["host"]}
        for row in m["rows"]:
            h = said[row[0], row[1]]
            check_equal(row[2:8], [h[k + "_bytes"] for k in ("rss", "anon", "file", "shmem", "swap", "pinned")], m["t_ns"])
    check(moments, "no moment has a process")
    pid = peak["host"][0]["pid"]
    curve = figures(page, "#host [data-course='%d'] [data-t]" % pid)
    wanted = [[str(m["t_ns"]), [r[2], r[3], r[4], r[5], r[6]]] for m in data["host_moments"] for r in m["rows"] if r[0] == pid and r[2] is not None]
    check_equal(curve, wanted if len(wanted) > 1 else [])


@case
def without_names(box):
    """Names are left out in what is said of rows, too, and no text brings one back; figures stay."""
    with_heap(box)
    before, text = data_of(make(box)), make(box, "rec.tare", "none.html", "--confidential")
    after = data_of(text)
    own = re.sub(r'id="data">.*?</script>', "", text, flags=re.S)
    for name in ("e2e_phases", "phases.c", "set_up", "force_graph", "rec.tare", os.getcwd()):
        check(name in own or name not in text, name)
    strip = lambda rows: [(r["device"], r["kind"], r["residue"], [(l["bytes"], l["count"]) for l in r["lines"]], r["more_bytes"]) for r in rows]
    check_equal(strip(after["evidence"]["rows"]), strip(before["evidence"]["rows"]))
    check_equal((after["evidence"]["kinds"], after["host_moments"]), (before["evidence"]["kinds"], before["host_moments"]))
    check_equal([(o["pid"], o["tools"], o["do_not_add"]) for o in after["explained"]], [(o["pid"], o["tools"], o["do_not_add"]) for o in before["explained"]])
    check(all(re.fullmatch(r"name \d+", o["title"]) for o in after["explained"]), after["explained"])
    check_equal([(c["account"], c["call"], c["driver_ns"]) for c in after["calls"]["rows"]], [(c["account"], c["call"], c["driver_ns"]) for c in before["calls"]["rows"]])
    check(all(re.fullmatch(r"name \d+|no line|", l["line"]) for r in after["evidence"]["rows"] for l in r["lines"]), "a line has its name")
    path = [r["path"] for r in after["report"]["devices"][0]["accounts"] if r["account"] == "code"][0]
    page = show(box, "#row=" + path.replace("/", "%2F"), "none.html")
    check("before and after the first launch" in page.js("document.getElementById('known').innerText"))


@case
def no_name_becomes_markup(box):
    for options in (("--host=full",), ()):
        box.record(fixture("e2e_tensors", "new"), exit_code=None, options=("-f", *options))
        poison(box, "rec.tare")
        data = data_of(make(box))
        paths = [(r["device"], r["path"]) for r in data["evidence"]["rows"]]
        check(paths, "no rows")
        for device, path in paths[::7]:
            page = show(box, "#place=%d&row=%s" % (device, "".join("%%%02X" % b for b in path.encode("utf-8", "replace"))))
            check_equal(page.js("document.querySelectorAll('#known').length"), 1, device, path)
            check_equal(page.js("document.querySelectorAll('#main script, #main img, #main iframe, #main a[href]').length"), 0)
            check_equal(page.js("[...document.querySelectorAll('#main *')].some(e => [...e.attributes].some(a => a.name.startsWith('on')))"), False)
            text = page.js("document.getElementById('main').textContent")
            check(not STEERS.search(text), repr(STEERS.search(text)))


@case
def why_memory_ran_out_is_that_of_json(box):
    """In the words of the report, also where names are left out."""
    box.record(fixture("e2e_torch_oom", "fragmented"), options=("--vram", "1GiB"))
    row, = say(box, "report", "rec.tare")["out_of_memory"]
    check("fragmentation" in row["why"] and row["why"] in " ".join(box.tare("report", "rec.tare", env={"COLUMNS": "1000"}).out.split()), row)
    for args in ((), ("--confidential",)):
        make(box, "rec.tare", "page.html", *args)
        text = show(box, fresh=True).js("document.querySelector('#answer .todo').textContent")
        check(text.endswith(": %s." % row["why"]), text)


@case
def what_is_not_there(box):
    """A recording of nothing, one that was cut short, one without a host: the page says so, and shows no 0 for what is not known."""
    box.record(["true"], sim=None)
    data = data_of(make(box))
    check_equal(data["evidence"]["rows"], [])
    text = show(box).js("document.getElementById('explain').textContent")
    check("no process of which other tools" in text or data["explained"], text)
    model = Allocator(seed=1)
    course(model, 60, 1)
    done = box.tare("import", write(box, pickle.dumps(model.snapshot())), "-f", "-o", box.path("rec.tare"))
    check_equal(done.code, 0, done)
    data = data_of(make(box))
    check_equal([h for h in data["report"]["host"] if h["rss_bytes"] is not None], [])
    page = show(box)
    check_equal(page.js("[...document.querySelectorAll('#host [data-bytes=\"0\"]')].length"), 0)
    check(page.js("document.querySelectorAll('#t-explained tbody tr').length") > 0)
    box.record(fixture("e2e_phases"), options=("-f", "--host=full"))
    segment = [f for f in os.listdir(box.path("rec.tare")) if f.endswith((".segment", ".events"))]
    for name in segment:
        os.truncate(box.path("rec.tare", name), os.path.getsize(box.path("rec.tare", name)) * 2 // 3)
    done = box.tare("report", "rec.tare", "--html", "page.html")
    check(done.code in (0, 125), done)
    if done.code == 0:
        show(box)


@case
def sizes_beyond_any_memory(box):
    with_heap(box)
    text = make(box)
    data = data_of(text)
    huge = 1 << 60
    for report in (data["report"], data["report"]["also"][0]):
        for h in report["host"]:
            for key in ("rss_bytes", "anon_bytes", "file_bytes", "peak_rss_bytes", "pinned_bytes"):
                h[key] = huge
    for m in data["host_moments"]:
        for row in m["rows"]:
            row[2:9] = [huge, huge, -huge, 0, huge, huge, None]
    for row in data["evidence"]["rows"]:
        row["lines"] = [{"line": "x" * 300, "bytes": -huge, "count": huge}]
    for tool in data["explained"][0]["tools"]:
        tool["bytes"] = huge
    data["report"]["devices"][0]["accounts"][1].update(bytes=huge, contended=True, low=-huge, high=huge)
    with open(box.path("page.html"), "w", encoding="utf-8") as out:
        out.write(re.sub('(id="data">).*?(</script>)', lambda m: m.group(1) + json.dumps(data) + m.group(2), text, flags=re.S))
    path = data["report"]["devices"][0]["accounts"][1]["path"]
    for width in (360, 1000):
        page = show(box, "#row=" + path.replace("/", "%2F"), width=width)
        check("1,099,511,627,776.0" in page.js("document.getElementById('host').textContent"))
        check("Between -1,099,511,627,776.0 and 1,099,511,627,776.0 MiB" in page.js("document.getElementById('known').textContent"))


@case
def for_everybody(box):
    """axe finds nothing in an open row, at three widths, in both themes; on paper nothing is left of what only clicks."""
    with_heap(box)
    path = [r["path"] for r in data_of(make(box))["report"]["devices"][0]["accounts"] if r["account"] == "code"][0]
    for width, theme in ((360, "dark"), (800, "light"), (1400, "dark")):
        page = show(box, "#row=" + path.replace("/", "%2F"), width=width, prefers_color_scheme=theme, prefers_reduced_motion="reduce")
        if width != 800:
            check_equal(page.audit("#ledger")[1], [], width, theme)
        check_equal(page.js("document.getAnimations().length"), 0)
    page = show(box, "#row=" + path.replace("/", "%2F"), media="print")
    check(page.js("document.getElementById('known').getClientRects().length") > 0, "an open row is printed")
    check_equal(page.js("[...document.querySelectorAll('.controls')].filter(e => e.getClientRects().length).length"), 0)
    page.media()


if __name__ == "__main__":
    main()
