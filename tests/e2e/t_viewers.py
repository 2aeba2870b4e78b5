#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What Tare writes for other programs, opened by these: Perfetto's page, chrome://tracing, Prometheus, a parser of OpenMetrics, Grafana's
model of a dashboard (tools/viewers.sh gets them), speedscope and the Firefox Profiler (where TARE_VIEWERS is a folder with their sources,
`speedscope` and `profiler`; there are no packages of them here). Others are in t_files: pprof, Valgrind, PyTorch, sqlite3.

    TARE_E2E_BUILD=build tests/e2e/t_viewers.py CASE
"""

import functools
import http.server
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time

import browser
from harness import PATIENCE, ROOT, Skip, case, check, check_equal, fixture, main, needs_exec, needs_program

QUERY = "app.trace.engine.query(%s).then(r => { const rows = []; for (const at = r.iter({}); at.valid(); at.next()) rows.push(r.columns().map(c => String(at.get(c)))); return rows; })"
CATAPULT = """fetch("/out.chrome").then(r => r.text()).then(text => {
  const model = new tr.Model();
  new tr.importer.Import(model).importTraces([text]);
  const counter = model.getAllCounters().find(c => c.name === "bytes by account"), sums = [];
  for (let i = 0; i < counter.numSamples; i++) sums.push(counter.series.reduce((a, s) => a + s.samples[i].value, 0));
  return [model.importWarnings.map(w => w.message), Math.max(...sums), model.getAllThreads().reduce((a, t) => a + t.sliceGroup.length, 0)];
})"""


def viewers(*names):
    """A file of what tools/viewers.sh made."""
    folder = subprocess.run([os.path.join(ROOT, "tools", "viewers.sh"), "--path"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    path = os.path.join(folder, *names)
    if not os.path.exists(path):
        raise Skip("%s is not there: tools/viewers.sh gets it" % path)
    return path


def imported(name):
    path = viewers("packages")
    sys.path.insert(0, path)
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(path)


def phases(box, *formats):
    """A recording, as each of these files; what was in use at its peak."""
    needs_exec()
    box.record(fixture("e2e_phases"))
    for name in formats:
        done = box.tare("report", "rec.tare", "--format", name, "-o", "out." + name)
        check_equal(done.code, 0, done)
    return box.report(at="peak")["devices"][0]["used_bytes"]


class Files(http.server.SimpleHTTPRequestHandler):
    """Perfetto's page, and beside it what lies in the box."""

    def __init__(self, *args, box, page):
        self.box, self.page = box, page
        super().__init__(*args)

    def translate_path(self, path):
        name = path.split("?")[0].lstrip("/")
        return os.path.join(self.box, name) if name.startswith("out.") else os.path.join(self.page, name)

    def log_message(self, *_):
        pass


def serve(box):
    page = viewers("perfetto")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files, box=box.dir, page=page))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, "http://127.0.0.1:%d/" % server.server_port


@case
def perfetto_and_chrome_open_them(box):
    """Perfetto's processor has the counters, the phases and the stacks of one, and the counters of the other, without an error; so has chrome://tracing."""
    viewers("perfetto")
    used = phases(box, "perfetto", "chrome")
    server, address = serve(box)
    page = browser.page()

    def ask(sql):
        return page.js(QUERY % json.dumps(sql))

    def opened(name):
        page.open("%s#!/?url=%s%s" % (address, address, name))
        until = time.monotonic() + 20 * PATIENCE
        while not page.js("!!(window.app && app.trace && app.trace.engine)"):
            check(time.monotonic() < until, "Perfetto does not open it", page.js("document.body.innerText"))
            time.sleep(.05)
        check_equal(ask("SELECT name, value FROM stats WHERE severity <> 'info' AND value > 0"), [], name)

    def peak(where):
        """Of the counters, which say what they have when it changes: the most that they had together."""
        now, most = {}, 0
        rows = ask("SELECT ts, track_id, value FROM counter JOIN counter_track ON counter_track.id = track_id WHERE %s ORDER BY ts" % where)
        check(rows, where)
        for i, (at, track, value) in enumerate(rows):
            now[track] = float(value)
            most = max(most, sum(now.values()) if i + 1 == len(rows) or rows[i + 1][0] != at else 0)
        return most

    opened("out.perfetto")
    check_equal(peak("name LIKE 'account: %'"), used)
    check_equal(ask("SELECT sum(size) FROM heap_profile_allocation"), [[str(used)]], "its heap profile")
    check(int(ask("SELECT count(*) FROM slice WHERE dur > 0")[0][0]) >= 10, "its phases")
    check_equal(ask("SELECT count(*) FROM heap_profile_allocation h LEFT JOIN stack_profile_callsite c ON c.id = callsite_id WHERE c.id IS NULL"), [["0"]])
    opened("out.chrome")
    check_equal(peak("name LIKE 'bytes by account %'"), used)
    where = os.listdir(viewers("perfetto"))
    version = [name for name in where if re.match(r"v\d", name)][0]
    page.open(address + version + "/assets/catapult_trace_viewer.html")
    warnings, most, slices = page.js(CATAPULT)
    check_equal((warnings, most), ([], used))
    check(slices >= 10, slices)
    server.shutdown()


@case
def openmetrics_is_parsed(box):
    parser = imported("prometheus_client.openmetrics.parser")
    needs_exec()
    box.record(fixture("e2e_phases"), rec='a"b\\c.tare')
    done = box.tare("serve", "--once", ".")
    check_equal(done.code, 0, done)
    families = {f.name: f for f in parser.text_string_to_metric_families(done.out)}
    used = box.report('a"b\\c.tare', "peak")["devices"][0]["used_bytes"]
    check_equal(sum(s.value for s in families["tare_recording_peak_bytes"].samples), used)
    check_equal({s.labels["recording"] for s in families["tare_recording_info"].samples}, {'a"b\\c.tare'})
    check_equal([f for f in families.values() if not f.documentation or f.type == "unknown"], [])


def monitoring(name):
    return os.path.join(ROOT, "examples", "monitoring", name)


def board():
    with open(monitoring("dashboard.json"), encoding="utf-8") as file:
        return json.load(file)


def differences(ours, theirs, at=""):
    """What is in ours and not, or not so, in theirs."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return [d for k in ours for d in (differences(ours[k], theirs[k], at + "/" + k) if k in theirs else [at + "/" + k])]
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        return [d for i, (a, b) in enumerate(zip(ours, theirs)) for d in differences(a, b, "%s/%d" % (at, i))]
    return [] if ours == theirs else [at]


@case
def grafana_has_the_dashboard(box):
    """Its own model takes it and gives it back: nothing in it is named as Grafana does not name it. `definition` of a variable it fills in itself."""
    model, encoder = imported("grafana_foundation_sdk.models.dashboard"), imported("grafana_foundation_sdk.cog.encoder")
    read = model.Dashboard.from_json(board())
    back = json.loads(encoder.JSONEncoder().encode(read))
    lost = [d for d in differences(board(), back) if not re.fullmatch(r"/templating/list/\d+/definition", d)]
    check_equal(lost, [])
    check_equal(len(read.panels), len(board()["panels"]))
    check(differences({"panels": [{"tittle": "x"}]}, json.loads(encoder.JSONEncoder().encode(model.Dashboard.from_json({"panels": [{"type": "stat", "tittle": "x"}]})))), "it takes anything")


@case
def prometheus_takes_rules_and_queries(box):
    """promtool reads the rules, the configuration, and each query of the dashboard."""
    needs_exec()
    tool = shutil.which("promtool") or viewers("promtool")

    def says(*args, code=0):
        done = box.run([tool, "check", *args])
        check_equal(done.code, code, done)
        return done.out + done.err

    check("7 rules found" in says("rules", monitoring("rules.yaml")))
    shutil.copy(monitoring("rules.yaml"), box.path("rules.yaml"))
    with open(monitoring("prometheus.yaml"), encoding="utf-8") as config, open(box.path("prometheus.yaml"), "w", encoding="utf-8") as out:
        out.write(config.read().replace("/etc/prometheus/tare.token", "token"))
    with open(box.path("token"), "w", encoding="utf-8") as token:
        token.write("secret")
    says("config", box.path("prometheus.yaml"))
    queries = [re.sub(r"\$__\w+", "5m", re.sub(r"\$\{?(?!__)\w+\}?", "x", t["expr"])) for p in board()["panels"] for t in p["targets"]]
    check(len(queries) > 10, queries)

    def rules(exprs):
        with open(box.path("q.yaml"), "w", encoding="utf-8") as out:
            json.dump({"groups": [{"name": "queries", "rules": [{"record": "tare:q%d" % i, "expr": e} for i, e in enumerate(exprs)]}]}, out)
        return box.path("q.yaml")

    check("%d rules found" % len(queries) in says("rules", rules(queries)))
    says("rules", rules(["sum by (row"]), code=1)


def of_source(box, name, script, *args):
    """What a script says that takes functions from the sources of a viewer."""
    needs_exec()
    folder = os.environ.get("TARE_VIEWERS", "")
    if not os.path.isdir(os.path.join(folder, name)):
        raise Skip("no sources of %s here (TARE_VIEWERS=FOLDER, with %s in it)" % (name, name))
    needs_program("esbuild")
    needs_program("node", "nodejs")
    with open(box.path("tsconfig.json"), "w", encoding="utf-8") as file:
        json.dump({"compilerOptions": {"baseUrl": folder, "paths": {"firefox-profiler/*": ["profiler/src/*"], "speedscope/*": ["speedscope/src/*"]}}}, file)
    with open(box.path("ask.ts"), "w", encoding="utf-8") as file:
        file.write(script)
    done = box.run(["esbuild", "ask.ts", "--bundle", "--platform=node", "--outfile=ask.js"])
    check_equal(done.code, 0, done)
    done = box.run(["node", "ask.js", *args])
    check_equal(done.code, 0, done)
    return json.loads(done.out)


@case
def speedscope_opens_it(box):
    used = phases(box, "speedscope")
    said = of_source(box, "speedscope", """import { importSpeedscopeProfiles } from "speedscope/lib/file-format";
console.log(JSON.stringify(importSpeedscopeProfiles(JSON.parse(require("fs").readFileSync("out.speedscope", "utf8"))).profiles.map(p => [p.getTotalWeight(), p.formatValue(1048576)])));""")
    check_equal(said, [[used, "1.00 MB"]])


@case
def the_firefox_profiler_opens_it(box):
    used = phases(box, "dhat")
    end = box.report(at="end")["devices"][0]["used_bytes"]
    said = dict(of_source(box, "profiler", """import { attemptToConvertDhat } from "firefox-profiler/profile-logic/import/dhat";
const profile = attemptToConvertDhat(JSON.parse(require("fs").readFileSync("out.dhat", "utf8")));
console.log(JSON.stringify(profile.threads.map(t => [t.name, t.nativeAllocations.weight.reduce((a, b) => a + b, 0)])));"""))
    check_equal((said["Bytes at Global Max"], said["Bytes at End"]), (used, end))


if __name__ == "__main__":
    main()
