#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sections of a page that are of some programs only: steps, CUDA graphs, ranks. Their figures are those of --json.

    TARE_E2E_BUILD=build tests/e2e/t_page_parts.py CASE
"""

import json
import os
import pickle
import re

from caching_allocator import Allocator, course
from hostile import STEERS, poison
from harness import MIB, ROOT, case, check, check_equal, fixture, main
from pages import data_of, figures, make, record_heap, report, serve, show
from snapshots import imported


def job(box, sizes):
    """A recording of each rank of a job, which allocates so much."""
    os.makedirs(box.path("job"))
    for rank, size in enumerate(sizes):
        for number, order in enumerate(["alloc %d" % size, "exit 0"], 1):
            with open(box.path("r%d.%d" % (rank, number)), "w", encoding="utf-8") as text:
                text.write(order + "\n")
        env = {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(len(sizes)), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500", "TORCHELASTIC_RUN_ID": "17", "TARE_SIM_DEVICES": str(len(sizes))}
        box.record(fixture("e2e_rank", box.path(), str(rank)), rec="job/p.r%d.tare" % rank, env=env)


# Of the marks beside the plot of time: where each begins and ends on its axis, from 0 to 1.
BESIDE = """[...(document.querySelector('#plot svg .%s')?.getAttribute('d') ?? '').matchAll(/M([\\d.]+) [^M]*?(?:H([\\d.]+)|v)[^M]*/g)]
    .map(m => [m[1], m[2] ?? m[1]].map(px => (px - 64) / (document.querySelector('#plot svg').viewBox.baseVal.width - 64)))"""


def check_beside(box, kind, spans):
    """In all of the time something is there; where one of them is looked at, it stands at its time."""
    check(0 < len(show(box).js(BESIDE % kind)) <= len(spans), kind)
    for begin, end in (spans[0], spans[-1]):
        before = max(100, end - begin)
        found = show(box, "#from=%d&to=%d" % (begin - before, end + before)).js(BESIDE % kind)
        wide = end - begin + 2 * before
        check(any(abs(a - before / wide) < .01 and abs(b - (before + end - begin) / wide) < .01 for a, b in found), kind, found, before / wide)


@case
def steps_are_those_of_json(box):
    """Each by itself, and the courses reach as high as --json says; a step that is chosen is the range of everything else."""
    box.record(fixture("e2e_training"))
    data, said = data_of(make(box)), report(box)["training"][0]
    each, curves = said["each"], data["steps"][0]
    check_equal(data["report"]["training"][0]["each"], each)
    check_beside(box, "steps", [(e["begin_ns"], e["begin_ns"]) for e in each])
    check_equal([e["step"] for e in each], list(range(1, said["steps"] + 1)))
    check_equal([each[0][k] for k in ("ns", "peak_used_bytes", "peak_tensor_bytes")], [said["first"][k] for k in ("ns", "peak_used_bytes", "peak_tensor_bytes")])
    for key, most in (("used", "peak_used_bytes"), ("live", "peak_tensor_bytes")):
        check_equal([max(c) for c in curves[key]], [e[most] for e in each], key)
        for bands in (curves["by_time"], curves["by_part"]):
            for column in zip(*bands[key]):
                known = [v for v in column if v is not None]
                check_equal(known, sorted(known), "a quantile is above the next one")
        check_equal(max(v for v in curves["by_part"][key][4]), max(e[most] for e in each[1:]), "the highest of the others")
    page = show(box)
    most = max(each, key=lambda e: e["peak_used_bytes"])
    check_equal(page.js("document.querySelector('#steps-now [data-bytes]').dataset.bytes"), str(most["peak_used_bytes"]))
    rows = dict(figures(page, "#t-step [data-step]"))
    for number, cells in rows.items():
        check_equal(cells[:2], [each[int(number) - 1]["peak_used_bytes"], each[int(number) - 1]["peak_tensor_bytes"]], number)
    page.js("document.getElementById('step-strip').focus()")
    for key, number in (("Home", 1), ("ArrowRight", 2), ("End", len(each))):
        page.key(key)
        check_equal(page.js("[document.getElementById('step-strip').getAttribute('aria-valuenow'), document.activeElement.id]"), [str(number), "step-strip"], key)
    hash_of = dict(p.split("=") for p in page.js("location.hash.slice(1)").split("&"))
    check_equal((int(hash_of["step"]), int(hash_of["from"])), (each[-1]["step"], each[-1]["begin_ns"]))
    page.click("#step-strip", at=(.09, .6))
    check("step=1&" in page.js("location.hash") + "&", page.js("location.hash"))
    page.click("#step-plot", at=(.5, .5))
    check_equal(page.audit("#steps")[1], [])
    for at in ("#parts=1&step=3", "#long=1&measure=tensors", "#step=99"):
        text = show(box, at, "page.html", 360).js("document.getElementById('steps').innerHTML")
        check("NaN" not in text and "Infinity" not in text and "undefined" not in text, at, text)
    none = data_of(make(box, "rec.tare", "none.html", "--confidential"))
    check_equal((none["steps"], none["report"]["training"][0]["each"]), (data["steps"], each))
    check("e2e_training" not in show(box, "#step=2", "none.html").js("document.getElementById('steps').textContent"))


@case
def a_program_without_steps(box):
    box.record(fixture("e2e_training", "few"))
    check_equal(data_of(make(box))["steps"], [])
    check("No steps are known" in show(box).js("document.getElementById('steps').textContent"))


@case
def a_slow_growth_is_no_growth_of_nothing(box):
    """4 KiB a step are not "0.0 MiB"; the line is as short as elsewhere."""
    box.record(fixture("e2e_training", "few"))
    text = make(box)
    data = data_of(text)
    data["report"]["growth"] = [{"line": "/home/me/train.py:87 in step", "what": "tensors", "bytes": 3 << 19, "bytes_per_step": 4096, "bytes_per_second": 100, "confidence": .99},
                                {"line": None, "what": "resident memory", "bytes": 9 << 20, "bytes_per_step": None, "bytes_per_second": 3 << 20, "confidence": .5}]
    with open(box.path("page.html"), "w", encoding="utf-8") as page:
        page.write(re.sub(r'(<script type="application/json" id="data">).*?(</script>)', lambda m: m.group(1) + json.dumps(data) + m.group(2), text, flags=re.S))
    said = show(box).js("[...document.querySelectorAll('.todo li')].map(i => i.textContent)")
    check_equal(said[:2], ["It grows: tensors, by 4.0 KiB a step, 1.5 MiB so far, from train.py:87 in step (99 % sure).",
                           "It grows: resident memory, by 3.0 MiB a second, 9.0 MiB so far (50 % sure)."])


@case
def single_blocks_are_those_of_json(box):
    """At a moment the blocks that are there are the rows of --by tensor then; with the smaller ones they are all that is in blocks."""
    box.record(fixture("e2e_training"))
    data = data_of(make(box))
    memory, names = data["blocks"]["memories"][0], data["pool"]["categories"]
    check_equal((memory["device"], memory["t_ns"]), (0, sorted(memory["t_ns"])))
    there = lambda i: [r for r in memory["rows"] if r[0] <= i < r[1]]
    for i, live in enumerate(memory["bytes"]):
        check(sum(r[2] for r in there(i)) <= live, i)
    last = [i for i, t in enumerate(memory["t_ns"]) if i + 1 == len(memory["t_ns"]) or memory["t_ns"][i + 1] > t]
    for i in last[:: max(1, len(last) // 6)]:
        said = report(box, "--by", "tensor", "--at", "%dns" % memory["t_ns"][i])["rows"]
        check_equal(sum(r["bytes"] for r in said), memory["bytes"][i], memory["t_ns"][i])
        rows = [(r["bytes"], r["born_ns"], r["category"]) for r in said]
        for r in there(i):
            rows.remove((r[2], r[7], names[r[3]]))
        check_equal(sum(r[0] for r in rows), memory["bytes"][i] - sum(r[2] for r in there(i)), "the smaller ones")
    page = show(box)
    sums = dict(page.js("[...document.querySelectorAll('#blocks [data-sum]')].map(e => [e.dataset.sum, Number(e.dataset.bytes)])"))
    peak = [r["bytes"] for r in report(box, "--by", "tensor", "--at", "peak")["rows"]]
    check_equal(sums["drawn"] + sums["smaller"], sum(peak))
    sizes = [r[2] for r in memory["rows"]]
    for number, cells in figures(page, "#t-blocks [data-block]"):
        check_equal(cells, [sizes[int(number) - 1]], number)
    shown = {}
    for name in sorted({names[r[3]] for r in memory["rows"]}):
        said = show(box, "#find=%s" % name).js("[...document.querySelectorAll('#blocks-found [data-bytes]')].map(e => Number(e.dataset.bytes))")
        shown[name] = said[0]
        check(said[0] <= said[1] <= max(memory["bytes"]), name, said)
        check_equal(page.js("[...document.querySelectorAll('#t-blocks [data-block]')].filter(r => !r.textContent.includes(%s)).length" % json.dumps(name)), 0, name)
    check_equal(sum(shown.values()), sums["drawn"], "each block is found by what it is for", shown)
    page = show(box, "#find=no+such+block")
    check("is in 0 of these blocks" in page.js("document.getElementById('blocks-found').textContent"))
    page.js("document.getElementById('block-find').focus()")
    page.key("x")
    check_equal(page.js("[document.activeElement.id, document.activeElement.value.length]"), ["block-find", len("no such blockx")])
    page = show(box)
    page.js("document.getElementById('block-plot').focus()")
    page.key("Home")
    first = page.js("document.getElementById('block-now').dataset.block")
    page.key("ArrowRight")
    check(int(page.js("document.getElementById('block-now').dataset.block")) > int(first), first)
    check_equal(page.js("[document.querySelector('#block-now [data-bytes]').dataset.bytes, document.activeElement.id]"), [str(sizes[int(page.js("document.getElementById('block-now').dataset.block")) - 1]), "block-plot"])
    check("block=" in page.js("location.hash"))
    page.click("#block-plot", at=(.6, .9))
    check_equal(page.audit("#blocks")[1], [])
    for at in ("#timed=1&block=2", "#block=99999", "#from=1&to=2"):
        text = show(box, at, "page.html", 360).js("document.getElementById('blocks').innerHTML")
        check("NaN" not in text and "Infinity" not in text and "undefined" not in text, at, text)
    none = data_of(make(box, "rec.tare", "none.html", "--confidential"))
    check_equal(none["blocks"]["memories"], data["blocks"]["memories"])
    check("e2e_training" not in show(box, "#block=1", "none.html").js("document.getElementById('blocks').textContent"))


@case
def moments_of_a_snapshot_are_in_their_order(box):
    """Without times, and where several events have the same one; and the course of time has them, not only their sum."""
    model = Allocator(seed=1)
    course(model, 600, 1)
    snapshot = model.snapshot()
    for step_us in (None, 1, 100):
        for trace in snapshot["device_traces"]:
            for i, event in enumerate(trace):
                event.update({} if step_us is None else {"time_us": 1_700_000_000_000_000 + i // 3 * step_us})
        imported(box, snapshot, "rec")
        data = data_of(make(box))
        times = data["blocks"]["memories"][0]["t_ns"]
        check_equal((len(times) > 100, times), (True, sorted(times)), step_us)
        live, = [b["bytes"] for b in data["time"]["account"]["panels"][0]["bands"] if b["label"] == "live tensors"]
        check(step_us == 1 or len(set(live)) > 100, step_us, len(set(live)))


@case
def of_many_blocks_the_page_has_those_that_take_most_room(box):
    box.record(["python3", os.path.join(ROOT, "tests", "bench", "storm.py"), fixture("libc10_cuda.so")[0], "20000", "3000", "20"])
    memory = data_of(make(box))["blocks"]["memories"][0]
    rows, live = memory["rows"], memory["bytes"]
    check(len(rows) <= 2000 and memory["smaller"] > 2000, len(rows), memory["smaller"])
    at = [0] * (len(live) + 1)
    for r in rows:
        at[r[0]] += r[2]
        at[r[1]] -= r[2]
    for i in range(1, len(at)):
        at[i] += at[i - 1]
    check(all(a <= b for a, b in zip(at, live)), "a block that was not there")
    check(max(at) > max(live) / 4, "those that last are there", max(at), max(live))
    page = show(box)
    sums = dict(page.js("[...document.querySelectorAll('#blocks [data-sum]')].map(e => [e.dataset.sum, Number(e.dataset.bytes)])"))
    check_equal(sums["drawn"] + sums["smaller"], sum(r["bytes"] for r in report(box, "--by", "tensor", "--at", "peak")["rows"]))


@case
def sizes_and_allocations_are_those_of_json(box):
    """Live tensors by their size; of a line how many it was given so far, also where it holds nothing any more."""
    box.record(fixture("e2e_tensors"))
    make(box)
    for at in ("peak", "end"):
        page, by = show(box, "#by=line&measure=tensors&all=1&t=" + at), {}
        for r in report(box, "--by", "tensor", "--at", at)["rows"]:
            if r["device"] == 0:
                n = r["bytes"].bit_length() - 1
                by[n] = [by.get(n, [0, 0])[0] + 1, by.get(n, [0, 0])[1] + r["bytes"]]
        check_equal({int(k): v for k, v in page.js("Object.fromEntries([...document.querySelectorAll('#sizes [data-power]')].map(e => [e.dataset.power, [Number(e.dataset.count), Number(e.dataset.bytes)]]))").items()}, by, at)
        said = {r["label"]: [r["handed"], r["handed_bytes"]] for r in report(box, "--by", "line", "--at", at)["rows"] if r.get("handed")}
        shown = page.js("Object.fromEntries([...document.querySelectorAll('#lines [data-ever]')].filter(e => e.dataset.ever > 0).map(e => [e.parentElement.dataset.label, [Number(e.dataset.ever), Number(e.dataset.everBytes)]]))")
        check_equal(shown, said, at)
        check(said, at)
    page.click("#by-ever")
    check_equal(page.js("document.querySelector('#lines tbody tr').dataset.label"), max(said, key=lambda k: said[k][0]))
    check_equal(page.audit("#where")[1], [])


@case
def of_a_heap_the_line_is_said_first(box):
    """The line with most at the peak stands in the first sentence, and the course of time is by line."""
    with open(box.path("heap.py"), "w", encoding="utf-8") as program:
        program.write("def first():\n    return bytearray(8 << 20)\na = first()\nb = bytearray(4 << 20)\n")
    box.record(["python3", "heap.py"], sim=None, options=["--host=full"])
    make(box)
    page, rows = show(box), report(box, "--by", "line", "--at", "peak")["rows"]
    most = max((r for r in rows if r["label"] != "no line"), key=lambda r: r["bytes"])
    check_equal(page.js("[...document.querySelectorAll('#answer [data-line]')].map(e => [e.dataset.line, Number(e.dataset.bytes)])"), [[most["label"], most["bytes"]]])
    check("heap.py:2 in first" in most["label"], most)
    check("line of source" in page.js("document.querySelector('#time [aria-label=\"stacked by\"] [aria-pressed=true]').textContent"))
    check("heap.py:2 in first" in page.js("document.getElementById('legend').textContent"))
    check_equal(page.audit("#time")[1], [])


@case
def a_heap_s_sizes_and_calls_are_those_of_json(box):
    """Blocks and mappings by their size, which sum to the heap; of a line how often it was given some, also where it holds nothing any more."""
    record_heap(box)
    make(box)
    for at in ("peak", "end"):
        page = show(box, "#by=line&all=1&t=" + at)
        heap = [d for r in [report(box, "--at", at)] for d in r["devices"] if d["heap"]][0]
        by = {s["from_bytes"].bit_length() - 1: [s["count"], s["bytes"]] for s in heap["sizes"]}
        check_equal(sum(bytes for _, bytes in by.values()), heap["used_bytes"], at)
        check(all(2 ** n <= bytes / count < 2 ** (n + 1) for n, (count, bytes) in by.items() if n), by)
        check(by[10][0] >= 200 and by[23] == [1, by[23][1]] and 9 * MIB <= by[23][1] < 10 * MIB, by)
        check_equal({int(k): v for k, v in page.js("Object.fromEntries([...document.querySelectorAll('#sizes [data-power]')].map(e => [e.dataset.power, [Number(e.dataset.count), Number(e.dataset.bytes)]]))").items()}, by, at)
        rows = report(box, "--by", "line", "--at", at)["rows"]
        said = {r["label"]: [r["handed"], r["handed_bytes"]] for r in rows if r["handed"]}
        check(all(r["handed"] >= r["count"] and r["handed_bytes"] >= r["bytes"] for r in rows), rows)
        shown = page.js("Object.fromEntries([...document.querySelectorAll('#lines [data-ever]')].filter(e => e.dataset.ever > 0).map(e => [e.parentElement.dataset.label, [Number(e.dataset.ever), Number(e.dataset.everBytes)]]))")
        check_equal(shown, said, at)
    passing = [(label, n) for label, n in shown.items() if "heap.py:3 in passing" in label]
    check(passing and passing[0][1][0] >= 300 and passing[0][1][1] >= 300 * 3000, "what is gone", shown)
    check_equal([r["bytes"] for r in rows if r["label"] == passing[0][0]], [0])
    page.click("#by-ever")
    check_equal(page.js("document.querySelector('#lines tbody tr').dataset.label"), max(shown, key=lambda k: shown[k][0]))
    check_equal(page.audit("#heap-sizes")[1] + page.audit("#where")[1], [])


@case
def graphs_are_those_of_json(box):
    box.record(fixture("e2e_torch_graphs"))
    data, said = data_of(make(box)), report(box, "--by", "graph", "--at", "peak")
    rows = said["rows"]
    check(len(rows) > 2 and any(r["bytes"] for r in rows), rows)
    page = show(box)
    sums = dict(page.js("[...document.querySelectorAll('#graphs [data-sum]')].map(e => [e.dataset.sum, Number(e.dataset.bytes)])"))
    for key in ("bytes", "exec_bytes", "memory_bytes", "allocated_bytes"):
        check_equal((sums[key], data["graphs"][key]), (sum(r[key] for r in rows),) * 2, key)
    check_equal((data["graphs"]["captured"], data["graphs"]["rows"]), (said["graphs_captured"], len(rows)))
    check_equal(sums["largest"], max(r["bytes"] for r in rows))
    check_equal([v["rows"] for v in data["views"] if v["by"] == "graph"], [rows], "once, and as --json has them")
    check_beside(box, "captures", [(r["begin_ns"], r["end_ns"]) for r in rows if r["state"] == "captured"])
    page = show(box)
    shown, kinds = dict(figures(page, "#t-graphs [data-graph]")), [k for k in ("exec_bytes", "memory_bytes", "allocated_bytes") if any(r[k] for r in rows)]
    for r in rows:
        check_equal(shown[str(r["number"])], [r["bytes"], *(r[k] for k in kinds), r["held_bytes"], r["used_after_bytes"]], r)
    page.js("document.getElementById('graph-plot').focus()")
    for key, number in (("Home", rows[0]["number"]), ("ArrowRight", rows[1]["number"]), ("End", rows[-1]["number"])):
        page.key(key)
        check_equal(page.js("[document.getElementById('graph-now').dataset.graph, document.activeElement.id]"), [str(number), "graph-plot"], key)
    check("graph=%d" % rows[-1]["number"] in page.js("location.hash"))
    check_equal(page.audit("#graphs")[1], [])
    none = data_of(make(box, "rec.tare", "none.html", "--confidential"))
    check_equal(none["graphs"], data["graphs"])
    text = show(box, "#graph=1", "none.html", 360).js("document.getElementById('graphs').textContent")
    check("torch_graphs" not in text and "main" not in text and "NaN" not in text, text)


SERVED = "[...document.querySelectorAll('#serving [data-sum]')].map(e => [e.dataset.sum, Number(e.dataset.bytes)])"


@case
def a_server_is_that_of_json(box):
    serve(box)
    text, said = make(box), report(box, "--by", "serving")
    server, = said["servers"]
    views = [v for v in data_of(text)["views"] if v["by"] == "serving"]
    check_equal([(v["servers"], v["rows"]) for v in views if v["at"] == "end"], [(said["servers"], said["rows"])])
    page = show(box)
    rows = {key: cells[0] for key, cells in figures(page, "#t-serving [data-came]")}
    check_equal({r["label"]: r["bytes"] for r in said["rows"]}, {k: v for k, v in rows.items() if k in {r["label"] for r in said["rows"]}})
    check_equal((rows["left"], rows["card"]), (server["left_bytes"], server["total_bytes"]))
    check_equal(sum(v for k, v in rows.items() if k != "card"), rows["card"], "what came and what is left are the card")
    check_equal(dict(page.js(SERVED)), {k: server[k] for k in ("transient_before_bytes", "transient_since_bytes", "largest_cache_bytes")})
    words = page.js("document.getElementById('serving').textContent")
    for part in ("server.py:", "workspaces" if "libraries" in rows else "cached, to give back", "--kv-cache-memory-bytes %d" % server["vllm_kv_cache_memory_bytes"], "--mem-fraction-static %.3f" % server["sglang_mem_fraction_static"]):
        check(part in words, part, words)
    make(box, "rec.tare", "none.html", "--confidential")
    words = show(box, "", "none.html").js("document.getElementById('serving').textContent")
    check("cached, to give back" in words and "server.py" not in words, words)
    data = data_of(text)
    for view in data["views"]:
        for of in view.get("servers", []):
            of.update(graphs=35, graph_pool_bytes=3 * MIB, graph_driver_bytes=MIB, graph_first_bytes=2 * MIB, graph_each_bytes=MIB, graph_each_low_bytes=0, graph_each_high_bytes=MIB)
    with open(box.path("page.html"), "w", encoding="utf-8") as page:
        page.write(re.sub('(id="data">).*?(</script>)', lambda m: m.group(1) + json.dumps(data) + m.group(2), text, flags=re.S))
    words = show(box).js("document.getElementById('serving').textContent")
    check("35 took 4.0 MiB: pools 3.0, driver 1.0; the first 2.0, each further one 1.0" in words, words)
    box.record(fixture("e2e_training"), rec="other.tare")
    check_equal([v for v in data_of(make(box, "other.tare"))["views"] if v["by"] == "serving"], [])
    check_equal(show(box).js("document.getElementById('serving')"), None)


@case
def ranks_are_those_of_json(box):
    job(box, [64 * MIB, 256 * MIB, 96 * MIB])
    make(box, "job")
    said, peak = report(box, "--by", "rank", rec="job"), report(box, rec="job")
    page = show(box)
    shown = figures(page, "#t-ranks [data-rank]")
    check_equal(len(shown), 3, shown)
    for (_, cells), r in zip(shown, said["rows"]):
        parts = [r[k] for k in ("context_bytes", "code_bytes", "allocation_bytes", "pool_bytes", "graph_bytes", "rest_bytes") if any(x[k] for x in said["rows"])]
        end = sum(a["bytes"] for d in peak["also"][0]["devices"] for a in d["accounts"] if a["leaf"] and a["rank"] == r["rank"])
        check_equal(cells, [r["bytes"], r["need_bytes"], *parts, r["device_used_bytes"], end], r["rank"])
    i = said["imbalance"]
    check_equal(page.js("[...document.querySelectorAll('#ranks-now [data-bytes]')].map(e => Number(e.dataset.bytes))"), [i["most_bytes"], i["least_bytes"], i["median_bytes"], i["part_bytes"]])
    check("rank 1 has most" in page.js("document.getElementById('ranks-now').textContent"))
    rows = dict(figures(page, "#t-differ [data-row]"))
    check_equal(next(iter(rows))[:11], "allocations", "the row in which they differ most is the first")
    for row, cells in rows.items():
        leaf = [sum(a["bytes"] for d in peak["devices"] for a in d["accounts"] if a["leaf"] and a["rank"] == rank and a["path"].split("/", 1)[1] == row) for rank in range(3)]
        check_equal(cells, [*leaf, max(leaf) - min(leaf)], row)
    page.click("#ranks .fall button:nth-of-type(2)")
    check_equal(page.js("[document.querySelector('#ranks button[aria-pressed=true]').textContent, document.querySelector('#answer .total.n').dataset.bytes]"), ["rank 1", str(said["rows"][1]["device_used_bytes"])])
    check_equal(page.audit("#ranks")[1], [])
    show(box, "", "page.html", 360)
    make(box, "job", "none.html", "--confidential")
    text = show(box, "", "none.html").js("document.getElementById('ranks').textContent")
    check("They differ most in allocations" in text and os.uname().nodename not in text, text)


@case
def hostile_names_stay_text(box):
    box.record(fixture("e2e_torch_graphs"))
    poison(box, "rec.tare")
    job(box, [MIB, 64 * MIB])
    for rank in range(2):
        poison(box, "job/p.r%d.tare" % rank)
    for rec, section in (("rec.tare", "graphs"), ("job", "ranks")):
        make(box, rec)
        page = show(box, "#graph=1&rank=%22%3E%3Cscript%3E")
        check_equal(page.js("document.querySelectorAll('script').length"), 2, section)
        check(not STEERS.search(page.js("document.getElementById('%s').textContent" % section)), section)
        check_equal(page.js("[...document.querySelectorAll('#%s *')].filter(e => e.getAttributeNames().some(n => n.startsWith('on'))).length" % section), 0)


@case
def sizes_that_no_machine_has(box):
    """As a damaged or an imported recording may say: they stand in words, and nothing is NaN."""
    box.record(fixture("e2e_torch_graphs"))
    make(box)
    with open(box.path("page.html"), encoding="utf-8") as page:
        text = page.read()
    with open(box.path("page.html"), "w", encoding="utf-8") as page:
        page.write(re.sub(r'"(exec_bytes|bytes|allocated_bytes|used_after_bytes)": ?-?\d+', r'"\1":%d' % (1 << 60), text))
    said = show(box, "#graph=2").js("document.getElementById('graphs').innerHTML")
    check("1,099,511,627,776.0" in said and "NaN" not in said and "Infinity" not in said, said)


if __name__ == "__main__":
    main()
