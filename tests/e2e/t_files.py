#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`tare report REC --format NAME -o FILE`: each file is read back and sums to --json of the same moment; programs that open such files
do so, where they are there; names stay names, and what cannot be written is said.

    TARE_E2E_BUILD=build tests/e2e/t_files.py CASE
"""

import glob
import gzip
import json
import os
import pickle
import re
import shutil
import sqlite3
import subprocess

from hostile import STEERS, poison
from harness import MIB, PATIENCE, PYTHON, ROOT, Skip, WRAPPER, case, check, check_equal, check_says, fixture, main, needs, needs_exec, needs_program
from snapshots import imported

NAMES = ["<script>x</script>", "a;b 7", "\"'`", "\x1b[31m\nFORGED", "\u202egnp.exe", "%s%n"]


def formats():
    with open(os.path.join(ROOT, "src/export/format.def"), encoding="utf-8") as text:
        return re.findall(r"^TARE_EXPORT\(\w+,\s*\"(\w+)\"", text.read(), re.M)


def make(box, name, rec="rec.tare", at="peak", code=0):
    done = box.tare("report", rec, "--format", name, "--at", at, "-o", "out." + name)
    check_equal(done.code, code, done)
    if code:
        return done
    check_equal(done.out, "", "what was written is in its file")
    with open(box.path("out." + name), "rb") as file:
        return file.read()


# ---- readers ----

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def message(data):
    """The fields of a protocol buffer: number → values, in their order."""
    fields, at = {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        check(tag & 7 in (0, 2), "wire type", tag)
        value, at = varint(data, at)
        if tag & 7 == 2:
            value, at = data[at:at + value], at + value
            check(at <= len(data), "a field is longer than its message")
        fields.setdefault(tag >> 3, []).append(value)
    return fields


def packed(data):
    out, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        out.append(value)
    return out


def signed(value):
    return value - (1 << 64) if value >> 63 else value


class Stacks:
    """What a file says: by device, bytes of each stack; texts of all frames."""

    def __init__(self):
        self.sums, self.texts, self.stacks = {}, set(), []

    def add(self, frames, size):
        self.sums[frames[0]] = self.sums.get(frames[0], 0) + size
        self.texts.update(frames)
        self.stacks.append((frames, size))


def read_collapsed(data):
    out = Stacks()
    for line in data.decode("utf-8").splitlines():
        stack, size = line.rsplit(" ", 1)
        out.add(stack.split(";"), int(size))
    return out


def read_speedscope(data):
    out, file = Stacks(), json.loads(data)
    check_equal(file["$schema"], "https://www.speedscope.app/file-format-schema.json")
    names = [frame["name"] for frame in file["shared"]["frames"]]
    for profile in file["profiles"]:
        check_equal((profile["type"], profile["unit"], profile["startValue"]), ("sampled", "bytes", 0))
        check_equal(len(profile["samples"]), len(profile["weights"]))
        check_equal(profile["endValue"], sum(profile["weights"]))
        for frames, size in zip(profile["samples"], profile["weights"]):
            out.add([names[i] for i in frames], size)
    return out


def read_pprof(data, value=3):
    out, file = Stacks(), message(gzip.decompress(data))
    strings = [text.decode("utf-8") for text in file[6]]
    check_equal(strings[0], "")
    types = [tuple(strings[message(t)[k][0]] for k in (1, 2)) for t in file[1]]
    check_equal(types, [("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"), ("inuse_space", "bytes")])
    check_equal(strings[file[14][0]], "inuse_space")
    functions = {f[1][0]: strings[f[2][0]] for f in map(message, file[5])}
    mappings = {m[1][0] for m in map(message, file[3])}
    locations = {}
    for place in map(message, file[4]):
        check(place[2][0] in mappings, place)
        locations[place[1][0]] = functions[message(place[4][0])[1][0]]
    for sample in map(message, file.get(2, [])):
        labels = {strings[label[1][0]]: label for label in map(message, sample[3])}
        frames = [locations[i] for i in reversed(packed(sample[1][0]))]
        check_equal(strings[labels["device"][2][0]], frames[0])
        out.add(frames, signed(packed(sample[2][0])[value]))
    return out


def read_dhat(data, key="gb"):
    out, file = Stacks(), json.loads(data)
    check_equal((file["dhatFileVersion"], file["mode"], file["bklt"], file["bkacc"]), (2, "heap", True, False))
    check(file["tg"] <= file["te"], file["tg"], file["te"])
    for point in file["pps"]:
        check(set(point) == set("tb tbk tl mb mbk gb gbk eb ebk fs".split()), point)
        check(point["tb"] >= point["mb"] >= max(point["gb"], point["eb"]), point)
        out.add([file["ftbl"][i] for i in reversed(point["fs"])], point[key])
    return out


def read_sqlite(box, name="out.sqlite"):
    out, file = Stacks(), sqlite3.connect(box.path(name))
    check_equal(file.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
    for stack, size in file.execute("SELECT id, bytes FROM stacks"):
        out.add([text for text, in file.execute("SELECT text FROM stack_frames JOIN frames ON frames.id = frame "
                                                "WHERE stack = ? ORDER BY depth", (stack,))], size)
    return out, file


def packets(data):
    return [message(packet) for packet in message(data).get(1, [])]


def read_perfetto(data):
    """The stacks of its heap profile; of each counter track its values in order of time."""
    out, names, values = Stacks(), {}, {}
    for packet in packets(data):
        for track in map(message, packet.get(60, [])):
            if 8 in track:
                check_equal(message(track[8][0])[3], [3], "bytes")
                names[track[1][0]] = track[5][0], track[2][0].decode("utf-8")
        for event in map(message, packet.get(11, [])):
            if event[9][0] == 4:
                values.setdefault(names[event[11][0]], []).append((packet[8][0] - 1, signed(event[30][0])))
        for profile in map(message, packet.get(37, [])):
            strings = {s[1][0]: s[2][0].decode("utf-8") for s in map(message, profile[1])}
            frames = {f[1][0]: strings[f[2][0]] for f in map(message, profile[2])}
            stacks = {s[1][0]: [frames[f] for f in s[2]] for s in map(message, profile[3])}
            for dump in map(message, profile[5]):
                check_equal({stacks[message(s)[1][0]][0] for s in dump.get(2, [])} - {dump[11][0].decode("utf-8")}, set(), "a heap a device")
                for sample in map(message, dump.get(2, [])):
                    out.add(stacks[sample[1][0]], sample[2][0] - sample[3][0])
    return out, values


def read_memory_viz(data):
    """All segments and their blocks, which lie side by side; what is not in use, in PyTorch's pool too, counts as such."""
    out, file = Stacks(), pickle.loads(data)
    check(data.startswith(b"\x80\x04"), "protocol 4, as the page wants it")
    check_equal(set(file), {"segments", "device_traces", "allocator_settings", "external_annotations", "tare"})
    for segment in file["segments"]:
        at = segment["address"]
        for block in segment["blocks"]:
            check_equal(block["address"], at)
            at += block["size"]
            frames = [frame["name"] for frame in reversed(block["frames"])]
            out.add(["GPU %d" % segment["device"]] + frames, block["size"])
        check_equal(at, segment["address"] + segment["total_size"])
        active = sum(b["size"] for b in segment["blocks"] if b["state"] == "active_allocated")
        check_equal((active, active), (segment["allocated_size"], segment["active_size"]))
    check_equal(len({s["address"] for s in file["segments"]}), len(file["segments"]))
    return out, file


def read_stacks(box, name, data):
    readers = {"memory_viz": lambda data: read_memory_viz(data)[0],
               "collapsed": read_collapsed, "speedscope": read_speedscope, "pprof": read_pprof, "dhat": read_dhat,
               "sqlite": lambda data: read_sqlite(box)[0], "perfetto": lambda data: read_perfetto(data)[0]}
    return readers[name](data) if name in readers else None


# ---- sums ----

def used(report):
    """By the name that a device has in files."""
    names = [["GPU %d" % d["index"]] + [d["name"]] * bool(d["name"]) + ["(simulated)"] * d["simulated"] for d in report["devices"]]
    return {" ".join(words): d["used_bytes"] for words, d in zip(names, report["devices"])}


def check_sums(box, rec="rec.tare", at="peak", names=None):
    wanted = used(box.report(rec, at))
    for name in names or formats():
        stacks = read_stacks(box, name, make(box, name, rec, at))
        if name == "memory_viz":
            stacks.sums = {device: stacks.sums.get(device[:5], 0) for device in wanted}
        if stacks:
            check_equal({k: v for k, v in stacks.sums.items() if v and k != "CPU tensors"}, {k: v for k, v in wanted.items() if v}, name, at)


@case
def stacks_sum_to_what_is_in_use(box):
    """Also of what PyTorch holds, whose blocks stand at their own lines."""
    if WRAPPER:
        raise Skip("without the simulated driver an emulator loads nothing into its program")
    box.record(fixture("e2e_phases"), rec="plain.tare")
    box.record(fixture("e2e_tensors", "new"))
    check_sums(box, "plain.tare", names=("collapsed", "pprof"))
    check_sums(box, at="end")
    live = [size for frames, size in read_collapsed(make(box, "collapsed", at="end")).stacks if "live tensors" in frames]
    check_equal(sum(live), 16 * MIB + 512)
    ever = [size for frames, size in read_pprof(make(box, "pprof", at="end"), 1).stacks if "live tensors" in frames]
    check_equal(sum(ever), 36 * MIB + 512 + 1000 * 1536)
    if "dhat" in formats():
        at_end = read_dhat(make(box, "dhat"), "eb").sums
        check_equal(list(at_end.values()), list(used(box.report(at="end")).values()))


@case
def curves_have_the_peak(box):
    if WRAPPER:
        raise Skip("without the simulated driver an emulator loads nothing into its program")
    box.record(fixture("e2e_phases"))
    device = box.report(at="peak")["devices"][0]
    trace = json.loads(make(box, "chrome"))
    counters = [e for e in trace["traceEvents"] if e["ph"] == "C" and e["name"] == "bytes by account"]
    sums = [sum(e["args"].values()) for e in counters]
    check_equal(max(sums), device["used_bytes"])
    peak = counters[sums.index(max(sums))]
    check(abs(peak["ts"] * 1000 - device["peak_t_ns"]) <= 1000, peak, device["peak_t_ns"])
    ledger = [e for e in trace["traceEvents"] if e["name"] == "ledger: peak"][0]["args"]
    check_equal(sum(v for k, v in ledger.items() if k != "used"), device["used_bytes"])
    check_equal({a["path"]: a["bytes"] for a in device["accounts"] if a["path"] in ledger},
                {k: v for k, v in ledger.items() if k not in ("used", "unexplained")})
    phases = {e["name"] for e in trace["traceEvents"] if e["ph"] == "X"}
    check(phases, "phases are slices")

    values = read_perfetto(make(box, "perfetto"))[1]
    at_peak = [[v for t, v in course if t <= device["peak_t_ns"]][-1] for (_, name), course in values.items() if name.startswith("account: ")]
    check_equal(sum(at_peak), device["used_bytes"])

    make(box, "sqlite")
    file = read_sqlite(box)[1]
    most = file.execute("SELECT max(s) FROM (SELECT sum(bytes) s FROM course WHERE kind = 'account' GROUP BY device, t_ns)").fetchone()
    check_equal(most, (device["used_bytes"],))
    check_equal({name for name, in file.execute("SELECT name FROM phases WHERE NOT is_mark")}, phases)
    check_equal(file.execute("SELECT sum(bytes) FROM ledger WHERE is_end").fetchone()[0] + device["unexplained_bytes"], device["used_bytes"])


@case
def slices_lie_in_one_another(box):
    """Phases of threads overlap; what a viewer draws in one lane does not. Their names are of any bytes."""
    if WRAPPER:
        raise Skip("without the simulated driver an emulator loads nothing into its program")
    box.record(fixture("e2e_phases"))
    poison(box, "rec.tare")
    lanes = {}
    for e in json.loads(make(box, "chrome").decode("utf-8"))["traceEvents"]:
        if e["ph"] == "X":
            lanes.setdefault(e["tid"], []).append((e["ts"], e["ts"] + e["dur"]))
    for spans in lanes.values():
        opened = []
        for begin, end in sorted(spans, key=lambda span: (span[0], -span[1])):
            while opened and opened[-1] <= begin:
                opened.pop()
            check(not opened or end <= opened[-1] + 0.002, spans)
            opened.append(end)


@case
def tensors_on_the_cpu_are_in_it(box):
    if WRAPPER:
        raise Skip("an emulator loads nothing into its program")
    box.record(fixture("e2e_cpu_tensors"), sim=None)
    report = json.loads(box.tare("report", "rec.tare", "--by", "stack", "--at", "peak:host", "--json").out)
    wanted = sum(row["tensor_bytes"] for row in report["rows"] if row["device"] is None)
    check(wanted, report)
    for name in formats():
        stacks = read_stacks(box, name, make(box, name, at="peak:host"))
        if stacks and name != "memory_viz":
            check_equal(stacks.sums, {"CPU tensors": wanted}, name)


# ---- their consumers ----

@case
def pprof_opens_it(box):
    """The program of the Go distribution."""
    needs_exec()
    needs_program("go", "golang-go")
    box.record(fixture("e2e_tensors", "new"))
    make(box, "pprof")
    done = subprocess.run(["go", "tool", "pprof", "-raw", box.path("out.pprof")], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=dict(os.environ, HOME=box.dir), timeout=60 * PATIENCE, check=False)
    text = done.stdout.decode()
    check_equal(done.returncode, 0, done)
    samples = re.findall(r"^ +\d+ +\d+ +\d+ +(-?\d+): [\d ]+$", text, re.M)
    check_equal(sum(map(int, samples)), box.report(at="peak")["devices"][0]["used_bytes"], text)
    check_says(text, "inuse_space/bytes[dflt]", "row:[", "M=1")


DH_VIEW = "/usr/libexec/valgrind/dh_view.js"

# What the viewer touches of its page is anything at all.
IN_NODE = """
const anything = () => new Proxy(function () {}, {get: (t, k) => k === Symbol.toPrimitive ? () => "" : k === "childNodes" ? [] : anything(),
    set: () => true, apply: anything, construct: anything});
const fs = require("fs"), seen = {document: anything(), window: anything(), FileReader: anything(), performance: {now: () => 0}, console};
const run = code => require("vm").runInContext(code, seen);
require("vm").createContext(seen);
run(fs.readFileSync(process.argv[1], "utf8"));
seen.text = fs.readFileSync(process.argv[2], "utf8");
run("gData = JSON.parse(text); gSelect = {childNodes: [{selected: true}], selectedIndex: 0}; buildTree()");
run("console.log(JSON.stringify([gRoot._atTGmaxBytes, gRoot._atTEndBytes]))");
"""


@case
def valgrinds_viewer_opens_it(box):
    """The code of dh_view.html, without a page."""
    needs_exec()
    needs_program("node", "nodejs")
    needs(os.path.exists(DH_VIEW), "valgrind")
    box.record(fixture("e2e_phases"))
    make(box, "dhat")
    done = subprocess.run(["node", "-e", IN_NODE, DH_VIEW, box.path("out.dhat")], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=60 * PATIENCE, check=False)
    check_equal(done.returncode, 0, done.stderr.decode())
    check_equal(json.loads(done.stdout), [box.report(at=at)["devices"][0]["used_bytes"] for at in ("peak", "end")])


def torch_says(box, code):
    """PyTorch's own reader of out.memory_viz: of the PyTorch of tools/cuda-venv.sh, or of the system's. It is one file that needs no other,
    so that nobody waits for all of PyTorch."""
    venv = subprocess.run([os.path.join(ROOT, "tools", "cuda-venv.sh"), "--path"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    found = glob.glob(os.path.join(venv, "lib", "python3*", "site-packages", "torch", "cuda", "_memory_viz.py")) + \
        glob.glob("/usr/lib/python3/dist-packages/torch/cuda/_memory_viz.py")
    if not found:
        raise Skip("no PyTorch here that has a reader of snapshots: tools/cuda-venv.sh makes one")
    done = subprocess.run([PYTHON, "-c", "import importlib.util, pickle, sys\nspec = importlib.util.spec_from_file_location('viz', sys.argv[1])\n"
                           "viz = importlib.util.module_from_spec(spec)\nspec.loader.exec_module(viz)\n"
                           "if not hasattr(viz, 'trace_plot'): sys.exit(9)\nfile = pickle.load(open('out.memory_viz', 'rb'))\n" + code, found[0]],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=box.dir, timeout=60 * PATIENCE, check=False)
    if done.returncode == 9:
        raise Skip("this PyTorch is older than 2, and has another snapshot")
    check_equal(done.returncode, 0, done.stderr.decode())
    return done.stdout.decode()


def tensors_recording(box):
    if WRAPPER:
        raise Skip("without the simulated driver an emulator loads nothing into its program")
    box.record(fixture("e2e_tensors", "new"))
    return box.report(at="end")["devices"][0]


@case
def a_snapshot_has_blocks_and_what_is_outside(box):
    device = tensors_recording(box)
    file = read_memory_viz(make(box, "memory_viz", at="end"))[1]
    pool = [s for s in file["segments"] if s["address"] < 1 << 52]
    live = [b["size"] for s in pool for b in s["blocks"] if b["state"] == "active_allocated"]
    rows = {a["path"].split("/", 1)[1]: a["bytes"] for a in device["accounts"] if "/" in a["path"]}
    check_equal(sum(live), rows["allocations/libc10_cuda/tensors"])
    check_equal(sorted(live), [512, 16 * MIB])
    check_equal(sum(s["total_size"] for s in pool), rows["allocations/libc10_cuda"])
    others = {s["blocks"][0]["frames"][-2]["name"] for s in file["segments"] if s["address"] >= 1 << 52}
    check(others, file["segments"])
    trace = file["device_traces"][0]
    count = {action: sum(e["action"] == action for e in trace) for action in ("segment_alloc", "alloc", "free_requested", "free_completed")}
    check_equal(count, {"segment_alloc": 3, "alloc": 2003, "free_requested": 2001, "free_completed": 2001})
    check([e["time_us"] for e in trace] == sorted(e["time_us"] for e in trace), "in order of time")


@case
def a_pool_without_a_live_block_stands_once(box):
    if WRAPPER:
        raise Skip("pickles are read outside the emulator")
    snapshot = snapshot_of(2 * MIB, [])
    snapshot["segments"][0].update(allocated_size=0, active_size=0, requested_size=0)
    snapshot["segments"][0]["blocks"][0].update(state="inactive", requested_size=0)
    snapshot["device_traces"][0].append({"action": "free_completed", "addr": 1 << 40, "size": 2 * MIB, "stream": 0, "time_us": 1700000000000002})
    rec = imported(box, snapshot)
    file = read_memory_viz(make(box, "memory_viz", rec, "end"))[1]
    check_equal([(s["address"], s["total_size"], s["allocated_size"]) for s in file["segments"]], [(1 << 40, 2 * MIB, 0)])
    check_equal(file["tare"]["notes"], "")
    ever = [size for frames, size in read_pprof(make(box, "pprof", rec, "end"), 1).stacks if "live tensors" in frames]
    check_equal(ever, [2 * MIB])


@case
def a_snapshot_comes_back(box):
    """tare import reads what PyTorch reads: the pool, and each other row as a segment, which the driver would round up."""
    device = tensors_recording(box)
    make(box, "memory_viz", at="end")
    done = box.tare("import", "out.memory_viz", "-o", "back.tare")
    check_equal(done.code, 0, done)
    rows = {a["path"]: a["bytes"] for a in box.report("back.tare", "end")["devices"][0]["accounts"]}
    check_equal(rows["process:0/allocations"], device["used_bytes"], rows)


@case
def pytorch_opens_it(box):
    device = tensors_recording(box)
    make(box, "memory_viz", at="end")
    said = torch_says(box, "text = lambda lines: lines\nprint(viz.segsum(file))\nprint(viz.trace(file))\nprint(len(viz.trace_plot(file)), len(viz.segment_plot(file)))\n"
                      "print(viz.compare(file['segments'], file['segments'], text))\nprint('---')\nprint(viz.memory(file, text).strip())\nprint('---')\nprint(viz.segments(file, text).strip())\n")
    check(said.count(" = ") >= 2003, "it has not each block that was handed out", said[:2000])
    for stacks in said.split("\n---\n")[1:]:
        check_equal(sum(int(line.rsplit(" ", 1)[1]) for line in stacks.splitlines()), device["used_bytes"], stacks)


# ---- what may be in a recording, and on a command line ----

def snapshot_of(size, names):
    """Two blocks, as PyTorch dumps them; `names` are of the frames of the first."""
    frames = [{"name": n, "filename": n + ".py", "line": i} for i, n in enumerate(names)]
    block = {"address": 1 << 40, "size": size, "requested_size": size, "state": "active_allocated", "frames": frames}
    segment = {"device": 0, "address": 1 << 40, "total_size": size, "allocated_size": size, "active_size": size, "requested_size": size,
               "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0), "is_expandable": False, "frames": frames, "blocks": [block]}
    trace = [{"action": "segment_alloc", "addr": 1 << 40, "size": size, "stream": 0, "time_us": 1700000000000000, "frames": frames},
             {"action": "alloc", "addr": 1 << 40, "size": size, "stream": 0, "time_us": 1700000000000001, "frames": frames}]
    return {"segments": [segment], "device_traces": [trace], "allocator_settings": {}, "external_annotations": []}


@case
def names_that_are_markup(box):
    if WRAPPER:
        raise Skip("pickles are read outside the emulator")
    for size, names in ((2 * MIB, formats()), (1 << 38, ("pprof", "memory_viz"))):
        rec = imported(box, snapshot_of(size, NAMES))
        wanted = box.report(rec, "end")["devices"][0]["used_bytes"]
        check_equal(wanted, size, "what was imported")
        for name in names:
            data = make(box, name, rec, "end")
            stacks = read_stacks(box, name, data)
            if stacks:
                check_equal(list(stacks.sums.values()), [size], name)
                check(any("<script>x</script>" in text for text in stacks.texts), name, stacks.texts)
                check(not any(STEERS.search(text) for text in stacks.texts), name, stacks.texts)
                check(not any("\n" in text for text in stacks.texts), name, stacks.texts)


@case
def hostile_recordings(box):
    """Every text of it is bytes that are no UTF-8, control characters, quotes."""
    if WRAPPER:
        raise Skip("without the simulated driver an emulator loads nothing into its program")
    box.record(fixture("e2e_phases"))
    poison(box, "rec.tare")
    wanted = box.report(at="peak")["devices"][0]["used_bytes"]
    for name in formats():
        stacks = read_stacks(box, name, make(box, name))
        if stacks:
            check_equal(sum(stacks.sums.values()), wanted, name)
            check(not any(STEERS.search(text) or "\n" in text for text in stacks.texts), name, stacks.texts)


@case
def nothing_and_a_part_of_a_recording(box):
    needs_exec()
    box.record(["true"], rec="none.tare", sim=None)
    for name in formats():
        stacks = read_stacks(box, name, make(box, name, "none.tare"))
        check_equal(stacks.sums if stacks else {}, {}, name)
    box.record(fixture("e2e_phases"))
    for folder, _, files in os.walk(box.path("rec.tare")):
        for file in files:
            if file.endswith(".events"):
                os.truncate(os.path.join(folder, file), os.path.getsize(os.path.join(folder, file)) * 2 // 3)
    box.unchecked["rec.tare"] = "it is cut short"
    check_sums(box, at="end", names=("collapsed", "memory_viz"))


@case
def many_stacks_are_put_together(box):
    """More than a viewer takes: the largest stand alone, and nothing is lost of the sum."""
    if WRAPPER:
        raise Skip("pickles are read outside the emulator")
    more, blocks, trace = 20100, [], []
    for i in range(more):
        frames = [{"name": "f%d" % i, "filename": "many.py", "line": 1 + i}]
        at, size = (1 << 40) + i * MIB, 512 * (1 + i % 2000)
        blocks += [{"address": at, "size": size, "requested_size": size, "state": "active_allocated", "frames": frames},
                   {"address": at + size, "size": MIB - size, "requested_size": 0, "state": "inactive", "frames": []}]
        trace.append({"action": "alloc", "addr": at, "size": size, "stream": 0, "time_us": 1700000000000000 + i, "frames": frames})
    snapshot = snapshot_of(more * MIB, [])
    snapshot["segments"][0]["blocks"] = blocks
    snapshot["device_traces"] = [snapshot["device_traces"][0][:1] + trace]
    rec = imported(box, snapshot)
    done = box.tare("report", rec, "--format", "speedscope", "--at", "end", "-o", "out")
    check_says(done.err, "smaller stacks", "20000")
    with open(box.path("out"), "rb") as file:
        stacks = read_speedscope(file.read())
    check_equal(stacks.sums, {"GPU 0": more * MIB})
    check_equal(len(stacks.stacks), 20001)
    check(["GPU 0", "smaller stacks in PyTorch's pool"] in [frames for frames, _ in stacks.stacks], "what is put together has a name")


@case
def mistakes_are_said(box):
    if WRAPPER:
        raise Skip("without the simulated driver an emulator loads nothing into its program")
    box.record(fixture("e2e_phases"))
    done = box.tare("report", "rec.tare", "--format", "pdf", "-o", "x")
    check_equal(done.code, 2, done)
    check_says(done.err, *formats())
    for options in (["--format", "pprof"], ["--format", "pprof", "-o", "x", "--by", "line"], ["-o", "x"],
                    ["--format", "pprof", "-o", "x", "--at", "peak", "--at", "end"], ["--format", "speedscope", "-o", "x", "--json"],
                    ["--format", "collapsed", "-o", "x", "--html", "y"]):
        done = box.tare("report", "rec.tare", *options)
        check_equal((done.code, done.out), (2, ""), done)
        check(not os.path.exists(box.path("x")), options)
    os.mkdir(box.path("folder"))
    for name in ("collapsed", "pprof"):
        for where in ("folder", "no/such", "/dev/full"):
            done = box.tare("report", "rec.tare", "--format", name, "-o", where)
            check_equal(done.code, 125, done)
            check_says(done.err, where + ": cannot be written")
    check_equal(os.listdir(box.path("folder")), [])


@case
def one_list_says_it_everywhere(box):
    """What --help, the completions and the page of the formats know is what there is."""
    known = formats()
    said = box.tare("report", "--help").out
    check_says(re.sub(r"\s+", "", said), *known)
    for shell in ("--bash", "--zsh", "--fish"):
        check_says(box.tare("help", shell).out, *known)
    with open(os.path.join(ROOT, "docs/FORMATS.md"), encoding="utf-8") as page:
        rows = re.findall(r"^\| `(\w+)` \|", page.read().split("\n## ")[0], re.M)
    check_equal(rows, known)


@case
def tables_go_into_files_too(box):
    if WRAPPER:
        raise Skip("without the simulated driver an emulator loads nothing into its program")
    box.record(fixture("e2e_phases"))
    for name in ("json", "csv", "text"):
        check_equal(box.tare("report", "rec.tare", "--format", name, "-o", "t").out, "")
        with open(box.path("t"), encoding="utf-8") as file:
            check_equal(file.read(), box.tare("report", "rec.tare", "--format", name, env={"LC_ALL": "C.UTF-8"}).out, name)
    piped = box.tare("report", "rec.tare", "--format", "collapsed", "-o", "-")
    check_equal(piped.stdout, make(box, "collapsed"))
    piped = box.tare("report", "rec.tare", "--format", "pprof", "-o", "-")
    check_equal(piped.stdout, make(box, "pprof"))


main(checks_views=False)
