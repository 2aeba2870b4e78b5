#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of `tare report REC --html FILE`, as Chromium shows it: its figures are those of --json, whatever is looked at; it
fetches nothing, and no name becomes markup.

    TARE_E2E_BUILD=build tests/e2e/t_page.py CASE
"""

import atexit
import html.parser
import io
import json
import os
import pickle
import re
import shutil
import tempfile

import browser
from caching_allocator import Allocator, course
from hostile import STEERS, poison
from harness import MIB, PYTHON, ROOT, Missing, Skip, case, check, check_equal, fixture, main, needs_exec, needs_torch
from snapshots import write

# What the page may consist of, once its script has run.
ALLOWED = set("""html head meta style title link script body a header h1 h2 h3 nav label select option main noscript section p b br span div i ol ul li button
svg defs pattern rect path text table thead tbody tr th td input details summary code h4 dl dt dd caption""".split())
VOID = ("area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr")


class Element:
    def __init__(self, tag, attrs):
        self.tag, self.attrs, self.children, self.text = tag, dict(attrs), [], ""

    def all(self, tag=None, **attrs):
        found = []
        for child in self.children:
            if (not tag or child.tag == tag) and all(child.attrs.get(k.replace("_", "-")) == v for k, v in attrs.items()):
                found.append(child)
            found += child.all(tag, **attrs)
        return found

    def one(self, tag=None, **attrs):
        found = self.all(tag, **attrs)
        check(found, "the page has no", tag, attrs)
        return found[0]

    def words(self):
        return self.text + " ".join(c.words() for c in self.children)

    def figures(self):
        return [int(c.attrs["data-bytes"]) if c.attrs["data-bytes"] else None for c in self.all() if "data-bytes" in c.attrs]


class Tree(html.parser.HTMLParser):
    """What Chromium wrote as the page after its script had run."""

    def __init__(self):
        super().__init__()
        self.root = Element("root", [])
        self.open = [self.root]

    def handle_starttag(self, tag, attrs):
        self.open[-1].children.append(Element(tag, attrs))
        if tag not in VOID:
            self.open.append(self.open[-1].children[-1])

    def handle_endtag(self, tag):
        if tag in [e.tag for e in self.open[1:]]:
            while self.open.pop().tag != tag:
                pass

    def handle_data(self, data):
        self.open[-1].text += data


def make(box, rec="rec.tare", name="page.html", *args):
    done = box.tare("report", rec, "--html", name, *args)
    check_equal(done.code, 0, done)
    check_equal(done.out, "", "the page is in its file")
    with open(box.path(name), encoding="utf-8") as page:
        return page.read()


OPEN = {}


def show(box, name="page.html", at="", width=1000):
    """The page in the browser, at a place of it. One for all: a browser takes a second to start."""
    if "page" not in OPEN:
        OPEN["page"] = browser.page(width)
    OPEN["page"].resize(width)
    return OPEN["page"].show(box.path(name), at)


def look(box, name="page.html", at="", width=1000):
    """The same, as a tree of what its script drew."""
    page = show(box, name, at, width)
    tree = Tree()
    tree.feed(page.html())
    check(tree.root.all("section", id="answer"), "the script did not run", page.html()[-3000:])
    check_equal(page.complaints(), [], at)
    return tree.root


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1))


def report(box, *args):
    return json.loads(box.tare("report", "rec.tare", "--json", *args).out)


def rows_of(root, table):
    return {row.all("th")[0].words(): row for row in root.one("table", id=table).one("tbody").all("tr")}


@case
def figures_are_those_of_json(box):
    box.record(fixture("e2e_phases"))
    make(box)
    root, peak = look(box), report(box)
    end, device = peak["also"][0], peak["devices"][0]
    lead = root.one("p", **{"class": "lead"})
    check_equal(lead.figures()[0], device["used_bytes"])
    books = {row.attrs["data-path"]: row.figures() for row in root.one("table", id="books").one("tbody").all("tr")}
    later = {row["path"]: row["bytes"] for row in end["devices"][0]["accounts"]}
    for row in device["accounts"]:
        check_equal(books[row["path"]], [row["bytes"], later.get(row["path"], 0)], row["path"])
    check_equal(books["used"], [device["used_bytes"], end["devices"][0]["used_bytes"]])
    check_equal(books["unexplained"], [device["unexplained_bytes"], end["devices"][0]["unexplained_bytes"]])
    legend = root.one("table", id="legend").one("tr", data_layer="sum").figures()
    check_equal(legend[0], device["used_bytes"])
    check_equal(legend[2], end["devices"][0]["used_bytes"], "the end of the plot is that of the ledger")
    fall = [c for c in root.all("span") if "data-part" in c.attrs]
    check_equal(int(fall[0].attrs["data-bytes"]), device["used_bytes"])
    check_equal(sum(int(c.attrs["data-bytes"]) for c in fall[1:] if c.attrs["data-part"] != "= asked for"), device["used_bytes"])


@case
def stacks_and_lines_are_those_of_json(box):
    box.record(fixture("e2e_phases"))
    page = make(box)
    for at in ("peak", "end"):
        rows = report(box, "--at", at, "--by", "line")["rows"]
        root = look(box, at="#by=line&t=" + at)
        shown = {r.attrs["data-label"]: r.figures()[0] for r in root.one("table", id="lines").all("tr") if "data-label" in r.attrs}
        check_equal(shown, {r["label"]: r["bytes"] for r in rows if r["bytes"]}, at)
        rows = report(box, "--at", at, "--by", "stack")["rows"]
        root = look(box, at="#t=" + at)
        check_equal(root.one("p", id="where-now").attrs["data-bytes"], str(sum(r["bytes"] for r in rows)))
        cells = [c for c in root.one("div", id="ice").all("button") if c.attrs["data-level"] == "0"]
        check_equal(cells[0].attrs["data-bytes"], str(sum(r["bytes"] for r in rows)))
    data = data_of(page)
    for moment in data["moments"][2:]:
        said = report(box, "--at", "%dns" % moment["t_ns"], "--by", "stack")["rows"]
        check_equal(sum(r[2] for r in moment["rows"]), sum(r["bytes"] for r in said), moment["t_ns"])


@case
def a_moment_is_in_the_address(box):
    box.record(fixture("e2e_phases"))
    data = data_of(make(box))
    panel = data["time"]["account"]["panels"][0]
    for i in (len(panel["t_ns"]) // 3, len(panel["t_ns"]) // 2):
        root = look(box, at="#t=%d" % panel["t_ns"][i])
        last = max(k for k, t in enumerate(panel["t_ns"]) if t <= panel["t_ns"][i])
        check_equal(root.one("table", id="legend").one("tr", data_layer="sum").figures()[0], panel["used_bytes"][last])
        check_equal(sum(b["bytes"][i] for b in panel["bands"]), panel["used_bytes"][i], "bands sum to what is used")
    root = look(box, at="#q=set_up&by=stack")
    check("is in" in root.one("p", id="where-now").words(), root.one("p", id="where-now").words())
    for odd in ("#t=soon&place=99&from=9&to=1&by=nothing", "#%00&path=1.2.x&layers=%3Cb%3E", "#q=%22%3E%3Cscript%3E"):
        look(box, at=odd)


SERVED = []
A_LINE = "kept = weights(), cache()"  # of the server's source


def serve(box):
    """One recording for all cases, of a server.py in a folder of its own, whose lines hold memory as those of a program of PyTorch do."""
    needs_exec()
    if not SERVED:
        SERVED.append(tempfile.mkdtemp(prefix="tare-served-"))
        atexit.register(shutil.rmtree, SERVED[0])
        shutil.copy(os.path.join(ROOT, "tests", "e2e", "python", "server.py"), SERVED[0])
        box.record(["python3", SERVED[0] + "/server.py", *fixture("libc10_cuda.so")], rec=SERVED[0] + "/rec.tare")
    shutil.copytree(SERVED[0] + "/rec.tare", box.path("rec.tare"))
    return SERVED[0] + "/server.py"


@case
def source_beside_what_its_lines_hold(box):
    """The lines around those that hold memory, with what --annotate says of the peak and of the end; in frames of the icicle their text."""
    file = serve(box)
    check(A_LINE in make(box))
    with open(file, encoding="utf-8") as source:
        lines = source.read().split("\n")
    page = show(box, at="#by=source")
    shown = page.js("[...document.querySelectorAll('#source [data-line]')].map(r => [Number(r.dataset.line), r.querySelector('.code').textContent, "
                    "[...r.querySelectorAll('[data-bytes]')].map(c => Number(c.dataset.bytes)), r.querySelectorAll('.spark path').length])")
    check(shown, "no source")
    for number, text, figures, curves in shown:
        check_equal(text, lines[number - 1], number)
        check_equal((len(figures), curves), (2, 1) if figures else (0, 0), number)
    for k, at in enumerate(("peak", "end")):
        said = {r["line"]: r["tensor_bytes"] for r in report(box, "--by", "line", "--annotate", file, "--at", at)["rows"] if r["device"] == 0}
        for number, _, figures, _ in shown:
            check_equal(figures[k] if figures else 0, said[number], at, number)
    frames = page.open("file://" + box.path("page.html")).js("[...document.querySelectorAll('#ice code')].map(e => [e.parentElement.dataset.frame, e.textContent])")
    check(frames, "no frame has its text")
    for name, text in frames:
        if name.startswith(file + ":"):
            check_equal(text, lines[int(name[len(file) + 1:].split(" ")[0]) - 1].strip(), name)


@case
def source_that_is_not_as_it_was(box):
    file = serve(box)
    with open(file, "rb") as source:
        was = source.read()

    def source_of(text, *args):
        if os.path.lexists(file):
            (os.rmdir if os.path.isdir(file) else os.unlink)(file)
        if callable(text):
            text(file)
        elif text is not None:
            with open(file, "wb") as out:
                out.write(text)
            os.utime(file, (1, 1))
        found = [s for s in data_of(make(box, "rec.tare", "page.html", *args))["sources"] if s["file"] == file]
        return found[0] if found else None

    def huge(path):
        with open(path, "wb") as out:
            out.truncate(9 << 20)

    try:
        now = source_of(was)
        check_equal((now["changed"], now["missing"], now["own"]), (False, None, True))
        check_equal(source_of(lambda f: shutil.copyfileobj(io.BytesIO(was), open(f, "wb")))["changed"], True, "newer than the recording")
        for text, why in ((None, "not on the machine"), (huge, "than 8"), (was[:100] + b"\0" + was, "no text"), (b"one line\n", "no such lines"), (os.mkfifo, "no file"), (os.mkdir, "no file")):
            now = source_of(text)
            check(why in now["missing"] and not now["lines"], why, now)
        page = show(box, at="#by=source")
        check("There is no text: " in page.js("document.getElementById('where').textContent"))
        odd = b"\xff\xfe</script><script>x=1</script>\x1b[31m\r\n" * 16 + b"\xc3\xa9" * 300
        now = source_of(odd)
        check(all(len(t.encode()) <= 3 * 200 for part in now["lines"] for t in part[1:]), now)
        root = look(box, at="#by=source")
        check_equal(len(root.all("script")), 2, "a line of source became a script")
        check("</script><script>x=1</script>?[31m" in root.one("table", id="source").words())
        for args in (["--no-source"], ["--confidential"]):
            check_equal(source_of(was, *args), None, args)
            check_equal(data_of(make(box, "rec.tare", "page.html", *args))["sources"], [], args)
            check(A_LINE not in make(box, "rec.tare", "page.html", *args), args)
    finally:
        source_of(was)
    done = box.tare("report", "rec.tare", "--no-source")
    check_equal(done.code, 2, done)
    check("--no-source goes with --html" in done.err, done)


@case
def source_of_nobody_elses(box):
    """Links lead to what is called as source is, or nowhere; what the owner of the recording may not read is not read for him."""
    file = serve(box)
    secret = box.path("secret")
    with open(secret, "w", encoding="ascii") as out:
        out.write("root:*:tell nobody\n" * 99)
    os.rename(file, file + ".was.py")

    def source_of(*args):
        return [s for s in data_of(make(box, "rec.tare", "page.html", *args))["sources"] if s["file"] == file][0]

    try:
        os.symlink(secret, file)
        now = source_of()
        check("not called as source" in now["missing"] and not now["lines"], now)
        check("tell nobody" not in make(box), "what a link leads to is on the page")
        os.unlink(file)
        os.symlink("server.py.was.py", file)
        check_equal((source_of()["missing"], source_of()["leads_to"]), (None, os.path.realpath(file)))
        root = look(box, at="#by=source")
        check("which is what was read" in root.one("section", id="where").words())
        if os.geteuid() == 0:
            for mode, owner, why in ((0o600, 0, "may not read it"), (0o644, 0, None), (0o600, 12345, None), (0o040, 12345, "may not read it")):
                os.chown(box.path("rec.tare"), 12345, 12345)
                os.chmod(file, mode)
                os.chown(file, owner, 0)
                os.chmod(os.path.dirname(file), 0o755)
                check_equal(source_of()["missing"] is None, why is None, oct(mode), owner, source_of()["missing"])
            os.chmod(file, 0o644)
            os.chmod(os.path.dirname(file), 0o700)
            check("may not read it" in source_of()["missing"], "a folder that is closed to the owner of the recording")
    finally:
        os.unlink(file)
        os.rename(file + ".was.py", file)
        os.chmod(file, 0o644)


@case
def source_of_this_machine_only(box):
    """The page may be passed on: a recording of another machine names no file of this one, unless somebody says so."""
    file = serve(box)
    with open(box.path("rec.tare/recording.json"), encoding="utf-8") as of:
        described = json.load(of)
    for host, why in (("elsewhere\x1b[31m<b>", "another machine (elsewhere"), (None, "does not say on which machine")):
        described["host"] = host
        with open(box.path("rec.tare/recording.json"), "w", encoding="utf-8") as out:
            json.dump(described, out)
        page = make(box)
        check(A_LINE not in page)
        check_equal((data_of(page)["sources"], why in data_of(page)["source_why"]), ([], True))
        check("tare report --html FILE --source" in look(box).one("p", id="source-why").words())
        check_equal([s["missing"] for s in data_of(make(box, "rec.tare", "page.html", "--source"))["sources"] if s["file"] == file], [None])
        check_equal(data_of(make(box, "rec.tare", "page.html", "--confidential"))["source_why"], None)
    for args in (["--source"], ["--html", "x", "--source", "--no-source"], ["--html", "x", "--source", "--confidential"]):
        done = box.tare("report", "rec.tare", *args)
        check_equal(done.code, 2, done)


@case
def tensors_and_modules(box):
    needs_torch()
    box.record([PYTHON, os.path.join(ROOT, "examples", "train.py")], sim=None, timeout=120)
    make(box)
    categories = {r["label"]: r["bytes"] for r in report(box, "--at", "peak", "--by", "category")["rows"]}
    root = look(box)
    legend = {r.one("th").words().strip(): r.figures()[0] for r in root.one("table", id="legend").one("tbody").all("tr")}
    for label, size in categories.items():
        if label in legend:
            check_equal(legend[label], size, label)
    check_equal(legend["sum"], sum(categories.values()))
    modules = report(box, "--at", "peak", "--by", "module")["rows"]
    root = look(box, at="#by=module")
    check_equal(root.one("table", id="rows").all("tr", **{"class": "total"})[0].figures()[0], sum(r["own_bytes"] for r in modules))
    lines = report(box, "--at", "peak", "--by", "line")["rows"]
    shown = {r.attrs["data-label"]: r.figures()[0] for r in look(box, at="#by=line").one("table", id="lines").all("tr") if "data-label" in r.attrs}
    check_equal(shown, {r["label"]: r["bytes"] for r in lines if r["bytes"]})


@case
def the_pool_block_by_block(box):
    """Blocks lie in their segments, by category as --json has them; a segment is read by pointer and by keys."""
    box.record(fixture("e2e_tensors", "new"))
    data = data_of(make(box))
    tensors, pool = report(box, "--by", "tensor")["rows"], report(box, "--by", "pool")["segments"]
    where = {s["address"]: s for s in pool if s["at"] == "peak"}
    drawn = [(int(s["address"], 16) + b[0], b[1], data["pool"]["categories"][b[2]]) for s in data["pool"]["segments"] if s["at"] == "peak" for b in s["blocks"]]
    check(drawn, "no block is in a segment")
    for s in data["pool"]["segments"]:
        check(s["at"] != "peak" or all(0 <= b[0] and b[0] + b[1] <= where[s["address"]]["bytes"] for b in s["blocks"]), s)
    known = {(int(t["address"], 16), t["bytes"], t["category"]) for t in tensors if t["address"] and t["device"] == 0}
    check(set(drawn) <= known, set(drawn) - known)
    page = show(box)
    shown = dict(page.js("[...document.querySelectorAll('#pool-keys [data-category]')].map(e => [e.dataset.category, Number(e.dataset.bytes)])"))
    for category in shown:
        check_equal(shown[category], sum(b[1] for b in drawn if b[2] == category), category)
    page.js("document.getElementById('pool-map').focus()")
    page.key("ArrowRight")
    first = min(where, key=lambda a: int(a, 16))
    check(page.js("document.getElementById('segment').textContent").startswith(first + ": "), first)
    page.key("End")
    check(page.js("document.getElementById('pool-map').getAttribute('aria-valuetext')").startswith(max(where, key=lambda a: int(a, 16))))


@case
def other_settings_of_the_pool(box):
    """What the pool would have had with other settings is what whatif --best says: as recorded, and the best five."""
    model = Allocator(seed=1)
    course(model, 600, 1)
    done = box.tare("import", write(box, pickle.dumps(model.snapshot())), "-o", box.path("rec.tare"))
    check_equal(done.code, 0, done)
    said = json.loads(box.tare("whatif", "rec.tare", "--best", "--json").out)
    check_equal((said["mismatches"], said["complete"]), (0, True), said)
    make(box)
    shown = show(box).js("[...document.querySelectorAll('#settings [data-settings]')].map(e => [e.dataset.settings, Number(e.dataset.bytes)])")
    check_equal(shown[0], ["as recorded", said["peak_reserved_bytes"]])
    check_equal(shown[1:], [[b["settings"], b["peak_reserved_bytes"]] for b in said["best"][:5]])


@case
def nothing_is_fetched(box):
    box.record(fixture("e2e_training"))
    page = make(box)
    check("default-src 'none'" in page)
    check(not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//""", page.split('id="data"')[0]))
    script = page.rsplit("<script>", 1)[1]
    for word in ("fetch(", "XMLHttpRequest", "WebSocket", "import(", "eval(", "innerHTML", "document.write", "sendBeacon"):
        check(word not in script, word)
    check(len(page) < 5 * MIB, len(page))


@case
def widths(box):
    """No page is wider than its window."""
    box.record(fixture("e2e_phases"))
    make(box)
    for width in (360, 800, 1400):
        for at in ("", "#layers=line&by=line", "#by=account"):
            wide = show(box, at=at, width=width).js("document.documentElement.scrollWidth - innerWidth")
            check(wide <= 0, width, at, wide)


@case
def tables_have_their_numbers_in_view(box):
    """`--html` with `--by`: however long names and stacks are, no cell is beyond the window."""
    box.record(fixture("e2e_phases"))
    for by in ("stack", "line", "owner"):
        box.tare("report", "rec.tare", "--by", by, "--html", "tables.html")
        for width in (800, 1400):
            page = show(box, "tables.html", width=width)
            right = page.js("Math.max(...Array.from(document.querySelectorAll('td')).map(cell => cell.getBoundingClientRect().right))")
            check(0 < right <= width, by, width, right)


@case
def imports_and_start_up_are_one_frame(box):
    """Also where they are of modules inside the interpreter, or of an interpreter without names."""
    needs_exec()
    with open(box.path("own.py"), "w", encoding="utf-8") as file:
        file.write("import decimal\nkept = bytearray(8 << 20)\n")
    box.record([PYTHON, "own.py"], sim=None, options=["--host=full"])
    make(box)
    frames = show(box).js("[...document.querySelectorAll('#ice button')].map(b => b.dataset.frame)")
    check(any(f.endswith("own.py:2 in <module>") for f in frames), frames)
    check_equal([f for f in frames if "<frozen" in f or re.match(r"_?Py_?[A-Z]|python3[.\d]*\+", f)], [], frames)
    check("interpreter and start-up" in frames, frames)
    rows = look(box, at="#show=table&all=1").one("table", id="stacks")
    total = rows.all("tr", **{"class": "total"})[0].figures()[0]
    unfolded = look(box, at="#show=table&all=1&fold=0").one("table", id="stacks")
    check_equal(unfolded.all("tr", **{"class": "total"})[0].figures()[0], total)
    check(len(rows.all("tr")) < len(unfolded.all("tr")), "no two are one")


@case
def without_names(box):
    box.record(fixture("e2e_phases"))
    plain, page = make(box), make(box, "rec.tare", "none.html", "--confidential")
    own = set(re.findall(r"[A-Za-z_][A-Za-z_0-9]{4,}", plain.split('id="data">')[0] + plain.split("</script>", 1)[1]))
    for name in ("e2e_phases", "phases.c", "force_graph", "set_up", "fixture", "rec.tare", os.getcwd()):
        check(name in plain or name == os.getcwd(), name)
        check(name in own or name not in page, name)
    before, after = data_of(plain), data_of(page)
    check_equal(after["moments"], before["moments"])
    check_equal([(r["bytes"], r["account"], r["leaf"]) for r in after["report"]["devices"][0]["accounts"]],
                [(r["bytes"], r["account"], r["leaf"]) for r in before["report"]["devices"][0]["accounts"]])
    figures = [c.attrs["data-bytes"] for c in look(box, "none.html").all("span") if "data-part" in c.attrs]
    make(box)
    check_equal(figures, [c.attrs["data-bytes"] for c in look(box).all("span") if "data-part" in c.attrs])
    for args in (["--confidential"], ["--confidential", "--html", "x", "--by", "line"], ["--confidential", "--json"]):
        done = box.tare("report", "rec.tare", *args)
        check_equal(done.code, 2, done)
        check("--confidential goes with --html" in done.err, done)


@case
def no_name_becomes_markup(box):
    """Every text of the recordings is hostile: markup, quotes, control characters, what is no UTF-8."""
    for program in (["e2e_phases"], ["e2e_training"], ["e2e_tensors", "new"], ["e2e_oom"]):
        box.record(fixture(*program), exit_code=None, options=("-f",), env={"TARE_SIM_SCRIPT": "oom-above 4GiB"} if program == ["e2e_oom"] else None)
        poison(box, "rec.tare")
        page = make(box)
        check(not STEERS.search(page), program, STEERS.search(page))
        data = page.split('id="data">')[1].split("</script>")[0]
        check("<" not in data, "a name could end the element that it is in")
        json.loads(data)
        for at in ("", "#by=line", "#show=table&fold=0", "#layers=line&t=end", "#q=script"):
            root = look(box, at=at)
            tags = {e.tag for e in root.all()}
            check(tags <= ALLOWED, tags - ALLOWED)
            check_equal(len(root.all("script")), 2, "a name became a script")
            for element in root.one("main", id="main").all():
                check(not [a for a in element.attrs if a.startswith("on")], element.tag, element.attrs)
                check(not STEERS.search(element.text), repr(element.text))
            check_equal(root.all("section", id="answer")[0].all("script"), [])


@case
def sizes_beyond_any_memory(box):
    """2^60 bytes, as a damaged or an imported recording may say."""
    box.record(fixture("e2e_phases"))
    page = make(box)
    data = data_of(page)
    for device in [data["report"]["devices"][0], data["report"]["also"][0]["devices"][0]]:
        device["used_bytes"] = device["accounts"][0]["bytes"] = 1 << 60
        device["unexplained_bytes"] = -(1 << 60)
    for band in data["time"]["account"]["panels"][0]["bands"]:
        band["bytes"] = [1 << 60 for _ in band["bytes"]]
    with open(box.path("page.html"), "w", encoding="utf-8") as out:
        out.write(re.sub('(id="data">).*?(</script>)', lambda m: m.group(1) + json.dumps(data) + m.group(2), page, flags=re.S))
    text = look(box).one("section", id="answer").words()
    check("1,099,511,627,776.0 MiB" in text, text)
    check("NaN" not in text and "Infinity" not in text, text)


@case
def what_the_program_has_leads(box):
    """Not the GPU that it did not touch: neither beside tensors on the CPU, nor before the GPU that it is on."""
    for argv, sim, place in ((fixture("e2e_cpu_tensors"), "h200", -1), (["env", "CUDA_VISIBLE_DEVICES=1"] + fixture("e2e_phases"), "h200:2", 1)):
        box.record(argv, rec="rec.tare", sim=sim, options=("-f",))
        make(box)
        root = look(box)
        check_equal([lead.attrs["data-place"] for lead in root.all("p", **{"class": "lead"})], [str(place)])
        check(root.one("p", **{"class": "lead"}).figures()[0] > 0)
        check_equal(show(box).js("location.hash"), "", "looked at without being asked for")
        check(("the CPU" if place < 0 else "GPU 1") in root.one("p", id="now").words(), root.one("p", id="now").words())


@case
def a_simulated_gpu_that_nobody_used(box):
    box.record(["true"])
    check_equal([d["simulated"] for d in report(box)["devices"]], [True], "it is no GPU of this machine")
    make(box)
    check("No memory was recorded" in look(box).one("section", id="answer").words())


@case
def an_empty_recording(box):
    box.record(["true"], sim=None)
    make(box)
    root = look(box)
    check("No memory was recorded" in root.one("section", id="answer").words())
    for section in ("where", "ledger"):
        check("no memory was recorded" in root.one("section", id=section).words(), section)
        check_equal(root.one("section", id=section).all("button") + root.one("section", id=section).all("table"), [], "nothing to use where nothing is")


@case
def the_asset_is_what_the_source_gives(box):
    if not shutil.which("esbuild"):
        raise Missing("esbuild")
    done = box.run([os.path.join(ROOT, "web", "build.sh"), "--check"])
    if done.code == 77:
        raise Skip(done.out.strip())
    check_equal(done.code, 0, done, "run web/build.sh")


if __name__ == "__main__":
    main()
