#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory over time: the picture of `tare report --svg`, and the line in the report."""

import json
import os
import re
import xml.etree.ElementTree as ET

from harness import case, check, check_equal, check_says, fixture, leaves, main

NS = "{http://www.w3.org/2000/svg}"
UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9}
POOL = {"tensors": "tensors", "partly": "partly", "cached": "cached", "held": "held"}


class Picture:
    """A picture with one panel, read back."""

    def __init__(self, path):
        self.text = open(path, encoding="utf-8").read()
        self.root = ET.fromstring(self.text)
        self.bands = [(e.get("data-band"), e) for e in self.root.iter(NS + "path") if e.get("data-band")]
        ticks = [(float(e.get("x")), e.text.split()) for e in self.root.iter(NS + "text")
                 if e.get("text-anchor") == "middle" and re.fullmatch(r"[0-9.]+ (ns|us|ms|s|min)", e.text)]
        (self.x0, t0), (x1, t1) = ticks[0], ticks[-1]
        self.t0 = float(t0[0]) * UNITS[t0[1]]
        self.ns_per_px = (float(t1[0]) * UNITS[t1[1]] - self.t0) / (x1 - self.x0)
        self.peak_y = float(next(self.root.iter(NS + "circle")).get("cy"))
        self.base = float(re.search(r"V([0-9.]+)z$", self.bands[0][1].get("d")).group(1))

    def texts(self, css):
        return [e.text for e in self.root.iter(NS + "text") if e.get("class") == css]

    def steps(self, path):
        """(x, y) from where on it is at y."""
        out, x, y = [], 0.0, 0.0
        for what, value, second in re.findall(r"([MhvV])(-?[0-9.]+)(?: (-?[0-9.]+))?", path):
            if what == "M":
                x, y = float(value), float(second)
            elif what == "h":
                x += float(value)
            elif what == "v":
                y += float(value)
            else:
                break
            out.append((x, y))
        return out

    def heights(self, x):
        """Upper edges at x by band, from the top; None where one of them is about to change."""
        out = []
        for key, path in self.bands:
            steps = self.steps(path.get("d"))
            if any(abs(px - x) < 3 and i and steps[i - 1][1] != py for i, (px, py) in enumerate(steps)):
                return None
            before = [py for px, py in steps if px <= x]
            out.append((key, before[-1] if before else self.base))
        return out


def band_of(row):
    if "/libc10_cuda/" in row["path"]:  # live tensors have a row for each category
        return POOL[row["path"].split("/libc10_cuda/")[1].split("/")[0]]
    return row["account"]


def check_against_ledger(box, picture, rec="rec.tare", least=3):
    """The areas at moments when nothing changes are what --at says then."""
    used = {d["index"]: d for d in box.report(rec, at="peak")["devices"]}[0]["used_bytes"]
    scale = used / (picture.base - picture.peak_y)
    checked, last = 0, None
    for x in range(70, 540, 7):
        heights = picture.heights(x)
        if heights is None or heights == last:
            continue
        last = heights
        t = picture.t0 + (x - picture.x0) * picture.ns_per_px
        report = box.report(rec, at="%dns" % t)
        device = report["devices"][0]
        check(abs((picture.base - heights[0][1]) * scale - device["used_bytes"]) < .2 * scale,
              "used at %d ns" % t, heights[0], device["used_bytes"], scale)
        sums = {}
        for row in leaves(device):
            sums[band_of(row)] = sums.get(band_of(row), 0) + row["bytes"]
        below = [y for _, y in heights[1:]] + [picture.base]
        for (key, y), lower in zip(heights, below):
            if key not in ("small", "unexplained"):
                check(abs((lower - y) * scale - sums.get(key, 0)) < .25 * scale,
                      "%s at %d ns" % (key, t), (lower - y) * scale, sums)
        checked += 1
    check(checked >= least, "only %d moments could be compared" % checked)


def draw(box, rec="rec.tare", out="out.svg", options=()):
    done = box.tare("report", rec, "--svg", out, *options)
    check_equal((done.code, done.out, done.err), (0, "", ""), done)
    return Picture(box.path(out))


@case
def areas_are_what_the_ledger_says(box):
    box.record(fixture("e2e_phases"))
    picture = draw(box)
    check_against_ledger(box, picture)
    check(any(t.startswith("phases") for t in picture.texts("m")), picture.texts("m"))
    check(len(picture.text) < 100000)


@case
def segments_of_pytorch_are_shown_by_what_is_in_them(box):
    box.record(fixture("e2e_tensors"))
    picture = draw(box)
    check("cached" in dict(picture.bands), picture.bands)
    check_says(dict(picture.bands)["cached"].get("class"), "e")
    check_says(picture.text, "~ taken as there was room")
    check_against_ledger(box, picture, least=2)


@case
def tensors_are_shown_by_category_when_asked(box):
    box.record(fixture("e2e_tensors"))
    done = box.tare("report", "rec.tare", "--by", "category", "--svg", "out.svg")
    check_equal((done.code, done.out, done.err), (0, "", ""), done)
    picture = Picture(box.path("out.svg"))
    report = box.report(at="peak")
    rows = [r for r in report["devices"][0]["accounts"] if r["path"].endswith("/libc10_cuda/tensors")]
    check("tensors" not in dict(picture.bands) or not rows, picture.bands)
    check({"temporary", "input", "activation", "buffer/state", "small"} & set(dict(picture.bands)), picture.bands)


@case
def the_peak_is_that_of_the_ledger(box):
    for program in ("e2e_phases", "e2e_tensors", "e2e_storm"):
        box.record(fixture(program), rec=program + ".tare")
        picture = draw(box, program + ".tare")
        device = box.report(program + ".tare", at="peak")["devices"][0]
        mib = "{:,.1f}".format(device["used_bytes"] / 2**20)
        check(any(t and t.startswith("peak " + mib + " MiB") for t in picture.texts("b halo")), mib,
              picture.texts("b halo"))
        tops = [y for _, y in picture.steps(picture.root.find(".//%spath[@class='top']" % NS).get("d"))]
        check(abs(min(tops) - picture.peak_y) < .11, min(tops), picture.peak_y)


HEAP = """
import time
def first():
    return bytearray(8 << 20)
def second():
    return bytearray(4 << 20)
time.sleep(.2)
a = first()
time.sleep(.2)
b = second()
time.sleep(.2)
a = None
time.sleep(.2)
"""


@case
def a_heap_is_shown_by_line(box):
    """Each line is as high as --by line says then, and at the peak; with --by account it is one block, of the same height."""
    with open(box.path("heap.py"), "w", encoding="utf-8") as program:
        program.write(HEAP)
    box.record(["python3", "heap.py"], sim=None, options=["--host=full"])
    picture = draw(box)
    scale = box.report("rec.tare", at="peak")["devices"][0]["used_bytes"] / (picture.base - picture.peak_y)
    seen, last = set(), None
    for x in range(70, 540, 5):
        heights = picture.heights(x)
        if heights is None or heights == last:
            continue
        last = heights
        t = picture.t0 + (x - picture.x0) * picture.ns_per_px
        rows = json.loads(box.tare("report", "rec.tare", "--by", "line", "--at", "%dns" % t, "--json").out)["rows"]
        said = {os.path.basename(r["label"]): r["bytes"] for r in rows}
        below = [y for _, y in heights[1:]] + [picture.base]
        shown = {key: (low - high) * scale for (key, high), low in zip(heights, below)}
        for line in ("heap.py:4 in first", "heap.py:6 in second"):
            check(abs(shown[line] - said.get(line, 0)) < .3 * scale, line, t, shown, said)
        seen.add(tuple(round(shown[line] / 2**20) for line in ("heap.py:4 in first", "heap.py:6 in second")))
        if len(seen) == 4:
            break
    check_equal(seen, {(0, 0), (8, 0), (8, 4), (0, 4)})
    check("heap.py:4 in first" in picture.texts("t") and "heap.py:6 in second" in picture.texts("t"), picture.texts("t"))
    check_equal(draw(box, out="same.svg", options=["--by", "line"]).text, picture.text)
    whole = draw(box, out="account.svg", options=["--by", "account"])
    check_equal(([k for k, _ in whole.bands if "heap.py" in k], whole.peak_y), ([], picture.peak_y))


@case
def where_memory_ran_out_is_marked(box):
    box.record(fixture("e2e_torch_oom", "need"), options=("--vram", "1GiB"))
    picture = draw(box)
    check_equal(picture.texts("oomt"), ["out of memory: 300.0 MiB asked for"])
    check_says(" ".join(picture.texts("m")), "the card has 1.0 GiB")


@case
def names_are_escaped(box):
    rec = 'a<b>&"c"]]>.tare'
    box.record(fixture("e2e_phases"), rec=rec)
    picture = draw(box, rec)
    check_says(" ".join(picture.texts("h1")), rec)


@case
def recordings_of_several_programs_stand_under_one_another(box):
    box.record(fixture("e2e_phases"), rec="a.tare")
    box.record(fixture("e2e_tensors"), rec="b.tare")
    done = box.tare("report", "a.tare", "b.tare", "--svg", "-")
    check_equal((done.code, done.err), (0, ""), done)
    root = ET.fromstring(done.out)
    check_equal([e.text for e in root.iter(NS + "text") if e.get("class") == "h1"],
                ["e2e_phases · a.tare", "e2e_tensors · b.tare"])
    tops = [e.text for e in root.iter(NS + "text") if e.text.endswith("GiB") and e.get("text-anchor") == "end"]
    check_equal(len(tops), 2 * len(set(tops)), "two scales", tops)


@case
def ranks_of_a_job_are_one_run(box):
    for rank in "01":
        box.record(fixture("e2e_phases"), rec="r%s.tare" % rank,
                   env={"RANK": rank, "WORLD_SIZE": "2", "LOCAL_RANK": rank, "TORCHELASTIC_RUN_ID": "job"})
    done = box.tare("report", "r0.tare", "r1.tare", "--svg", "-")
    check_equal((done.code, done.err), (0, ""), done)
    heads = [e.text for e in ET.fromstring(done.out).iter(NS + "text") if e.get("class") == "h1"]
    check_equal(heads, ["e2e_phases · 2 ranks · r0.tare and 1 more"])


@case
def a_program_without_a_gpu_has_a_picture_too(box):
    box.record(["true"])
    done = box.tare("report", "rec.tare", "--svg", "-")
    check_equal(done.code, 0, done)
    ET.fromstring(done.out)
    check_says(done.out, "Nothing was recorded that could be drawn")


@case
def a_file_is_overwritten_and_what_cannot_be_written_is_said(box):
    box.record(fixture("e2e_phases"))
    with open(box.path("out.svg"), "w", encoding="utf-8") as f:
        f.write("x" * 1000000)
    check(draw(box).text.endswith("</svg>\n"))
    for bad in ("no/such/folder.svg", "."):
        done = box.tare("report", "rec.tare", "--svg", bad)
        check_equal((done.code, done.out), (125, ""), done)
        check_equal(len(done.err.splitlines()), 1, done)
        check_says(done.err, bad, "cannot be written")
    os.symlink("behind.svg", box.path("link.svg"))
    check_equal(draw(box, out="link.svg").text, draw(box).text)
    check(os.path.islink(box.path("link.svg")) and not os.path.exists(box.path("link.svg.new")))
    if os.path.exists("/dev/full"):
        done = box.tare("report", "rec.tare", "--svg", "/dev/full")
        check_equal(done.code, 125, done)


@case
def what_cannot_be_combined_is_refused(box):
    box.record(["true"])
    for args in (["--json"], ["--csv"], ["--at", "peak"], ["--pid", "1"], ["--cost", "time"],
                 ["--by", "stack"]):
        done = box.tare("report", "rec.tare", "--svg", "out.svg", *args)
        check_equal(done.code, 2, args, done)
        check_says(done.err, "--svg")
        check(not os.path.exists(box.path("out.svg")), args)
    check_equal(box.tare("report", "none.tare", "--svg", "out.svg").code, 125)
    check(not os.path.exists(box.path("out.svg")))


@case
def the_report_has_a_line_of_time(box):
    box.record(fixture("e2e_phases"))
    screen = box.tare("report", "rec.tare", env={"LC_ALL": "C.UTF-8"}).out
    lines = [line for line in screen.splitlines() if "█" in line]
    check_equal(len(lines), 1, screen)
    check(re.fullmatch(r"[0-9.]+ m?s [▁▂▃▄▅▆▇█]{16,64} [0-9.]+ m?s", lines[0]), lines)
    plain = box.tare("report", "rec.tare", env={"LC_ALL": "C"}).out
    check(plain.isascii(), plain)
    check(re.search(r"^[0-9.]+ m?s [_.\-=+x%#]{16,64} [0-9.]+ m?s$", plain, re.M), plain)
    at = box.tare("report", "rec.tare", "--at", "end", env={"LC_ALL": "C.UTF-8"}).out
    check(re.search(r"█.* · peak [0-9,.]+ at [0-9.]+ m?s$", at, re.M), at)
    for option in ("--json", "--csv"):
        check("█" not in box.tare("report", "rec.tare", option).out)


if __name__ == "__main__":
    main(checks_views=True)
