#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tare serve: metrics and pages over HTTP, for those who may have them."""

import base64
import contextlib
import ctypes
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time

import openmetrics
from harness import (MIB, PATIENCE, ROOT, case, check, check_equal, check_says, fixture, main, needs, needs_exec,
                     record_args, tare_argv, wait_until)

TOKEN = "eiPh5quohb0eiPh5quohb0"
OWN_ROWS = {"pid", "rank", "recording"}


def needs_server():
    needs_exec()
    try:
        ctypes.CDLL("libmicrohttpd.so.12")
    except OSError:
        needs(False, "libmicrohttpd12")


class Led:
    """A recorded program that allocates what it is told to."""

    def __init__(self, box, rec="live.tare"):
        self.running = box.start(tare_argv(*record_args(fixture("e2e_steps"), rec=rec)), stdin=subprocess.PIPE)

    def alloc(self, size):
        self.running.stdin.write(b"alloc %d\n" % size)
        self.running.stdin.flush()
        while (line := self.running.stdout.readline()) != b"took\t%d\n" % size:
            check(line, "it does not say that it took %d" % size)

    def end(self):
        self.running.communicate(b"quit\n", timeout=60)


def metrics_of(box, *args):
    done = box.tare("serve", "--once", *args)
    check_equal(done.code, 0, done)
    return openmetrics.parse(done.out)


def metrics_with(box, size, *args):
    """Once the ledger has so many bytes of allocations."""
    def has_them():
        got = metrics_of(box, *args)
        return got["tare_gpu_memory_bytes"].sum(row="allocations") == size and got

    return wait_until(has_them, "the allocations do not come")


class Server:
    def __init__(self, box, *args, **more):
        self.running = box.start(tare_argv("serve", "--listen", "127.0.0.1:0", *args), **more)
        line = self.running.stderr.readline().decode()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
        check(found, "it does not say where it serves", line)
        self.port = int(found.group(1))

    def ask(self, path, method="GET", headers=None, host="localhost"):
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60 * PATIENCE)
        link.putrequest(method, path, skip_host=True)
        for name, value in dict({"Host": host}, **(headers or {})).items():
            if value is not None:
                link.putheader(name, value)
        link.endheaders()
        answer = link.getresponse()
        body = answer.read().decode("utf-8")
        link.close()
        return answer, body

    def status(self, path, **how):
        return self.ask(path, **how)[0].status

    def end(self):
        self.running.send_signal(signal.SIGTERM)
        self.running.communicate(timeout=20)
        check_equal(self.running.returncode, 0, "it did not end well")


@contextlib.contextmanager
def serving(box, *args, **more):
    server = Server(box, *args, **more)
    try:
        yield server
        server.end()
    finally:
        server.running.kill()


@case
def rows_sum_to_what_nvml_shows(box):
    needs_exec()
    box.record(fixture("e2e_steps"), rec="ended.tare", input=b"alloc 7340032\nquit\n")
    led = Led(box)
    led.alloc(100 * MIB)
    got = metrics_with(box, 100 * MIB, ".")
    rows = json.loads(box.tare("top", "--json", ".").out)["rows"]
    gpu = [r for r in rows if r["kind"] == "gpu"][0]
    who = {"gpu": "0", "uuid": gpu["uuid"]}
    check_equal(got["tare_gpu_memory_used_bytes"].samples, [(who, gpu["bytes"])])
    check_equal(got["tare_gpu_memory_total_bytes"].samples, [(who, gpu["total_bytes"])])
    check_equal(got["tare_gpu_memory_bytes"].sum(**who), gpu["bytes"], "rows that are no sum")
    process = [r for r in rows if r["kind"] == "process"][0]
    check_equal(got["tare_gpu_memory_bytes"].sum(pid=str(process["pid"]), recording="live.tare"), process["bytes"])
    info = got["tare_gpu_info"].samples[0][0]
    check_equal((info["UUID"], info["simulated"], info["source"]), (gpu["uuid"], "yes", "nvml"))
    check("(simulated)" in info["modelName"], info)
    states = {labels["recording"]: labels["state"] for labels, _ in got["tare_recording_info"].samples}
    check_equal(states, {"live.tare": "live", "ended.tare": "ended"})
    report = json.loads(box.tare("report", "ended.tare", "--at", "peak", "--json").out)["devices"][0]
    check_equal(got["tare_recording_peak_used_bytes"].sum(recording="ended.tare"), report["used_bytes"])
    check_equal(got["tare_recording_peak_bytes"].sum(recording="ended.tare"), report["used_bytes"])
    check_equal(got["tare_recording_peak_bytes"].sum(recording="ended.tare", row="allocations"), 7 * MIB)
    led.end()


@case
def a_rank_has_its_number(box):
    needs_exec()
    env = {"RANK": "3", "LOCAL_RANK": "1", "WORLD_SIZE": "8", "TORCHELASTIC_RUN_ID": "job"}
    box.record(fixture("e2e_steps"), rec="r3.tare", input=b"alloc 7340032\nquit\n", env=env)
    got = metrics_of(box, ".")["tare_recording_peak_bytes"]
    check_equal(got.sum(rank="3", row="allocations"), 7 * MIB, got.samples)
    check_equal({labels["rank"] for labels, _ in got.samples}, {"3", ""}, got.samples)


@case
def what_cannot_be_read_and_odd_names(box):
    needs_exec()
    box.record(fixture("e2e_steps"), rec='a"b\\c.tare', input=b"quit\n")
    os.mkdir(box.path("bad.tare"))
    with open(box.path("bad.tare", "recording.json"), "w", encoding="utf-8") as file:
        file.write("{")
    with open(box.path("no\nline.tare"), "w", encoding="utf-8") as file:
        file.write("no folder")
    got = metrics_of(box, ".")
    states = {labels["recording"]: labels["state"] for labels, _ in got["tare_recording_info"].samples}
    check_equal(states, {'a"b\\c.tare': "ended", "bad.tare": "unreadable"})
    os.mkdir(box.path("empty"))
    check_equal(metrics_of(box, "empty")["tare_recording_info"].samples, [])
    for name in ("nothing", "no\nline.tare"):
        done = box.tare("serve", "--once", name)
        check_equal(done.code, 2, done)
        check_says(done.err, "there is no such folder")


@case
def pages_and_what_is_not_there(box):
    needs_server()
    box.record(fixture("e2e_steps"), rec="a b&<c>.tare", input=b"alloc 7340032\nquit\n")
    with serving(box, ".") as server:
        answer, body = server.ask("/metrics")
        check_equal((answer.status, answer.getheader("Content-Type")),
                    (200, "application/openmetrics-text; version=1.0.0; charset=utf-8"))
        check_equal(openmetrics.parse(body)["tare_recording_info"].samples[0][0]["recording"], "a b&<c>.tare")
        _, index = server.ask("/")
        link = re.search(r'<a href="(r/[^"]*)">a b&amp;&lt;c&gt;\.tare</a><td>ended', index)
        check(link, index)
        answer, page = server.ask("/" + link.group(1))
        check_equal((answer.status, answer.getheader("Content-Type")), (200, "text/html; charset=utf-8"))
        check("default-src 'none'" in answer.getheader("Content-Security-Policy"))
        done = box.tare("report", "a b&<c>.tare", "--html", "-", "--no-source")
        check_equal(page, done.out, "another page than that of tare report --html, or one with source")
        check(re.search(r'"sources":\s*\[\]', page))
        for path in ("/nothing", "/r/", "/r/nothing.tare", "/r/..%2f..%2fetc%2fpasswd", "/r/../../etc/passwd", "/r/./a%20b&%3Cc%3E.tare",
                     "/r/a%20b&%3Cc%3E.tare/recording.json", "//etc/passwd", "/r/%00", "/r/" + "x" * 4000):
            check_equal(server.status(path), 404, path)
        answer, body = server.ask("/metrics", method="HEAD")
        check_equal((answer.status, body), (200, ""))
        check(int(answer.getheader("Content-Length")) > 1000, answer.getheaders())
        for method in ("POST", "PUT", "DELETE", "OPTIONS"):
            answer, _ = server.ask("/metrics", method=method)
            check_equal((answer.status, answer.getheader("Allow")), (405, "GET, HEAD"), method)
        # A name of somebody's own that leads here, from a page in a browser of this machine.
        check_equal([server.status("/metrics", host=h) for h in ("tare.example:80", "localhost.example", None)], [403] * 3)
        check_equal([server.status("/metrics", host=h) for h in ("127.0.0.1:9", "[::1]")], [200] * 2)
        check(server.status("/metrics", headers={"X": "y" * 60000}) in (413, 431), "a head without end")
        answers = []
        askers = [threading.Thread(target=lambda: answers.append(server.status("/" + link.group(1)))) for _ in range(10)]
        for asker in askers:
            asker.start()
        for asker in askers:
            asker.join()
        check_equal(answers, [200] * 10)


@case
def only_who_has_the_token(box):
    needs_server()
    path = box.path("token")

    def refused(text, mode, *words):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        done = box.tare("serve", "--once", "--token-file", "token")
        check(done.code in (2, 125), done)
        check_says(done.err, *words)

    refused(TOKEN, 0o644, "others may read the token", "chmod 600")
    refused(TOKEN, 0o660, "others may read the token or change it")
    refused("short\n", 0o600, "a token has 16 to 512 characters")
    refused("two words of a token\n", 0o600, "without blanks")
    os.mkfifo(box.path("fifo"), 0o600)
    check_equal(box.tare("serve", "--once", "--token-file", "fifo").code != 0, True)
    done = box.tare("serve", "--listen", "0.0.0.0:0")
    check_equal(done.code, 2, done)
    check_says(done.err, "needs a token", "--token-file")
    for words in ("19400", "127.0.0.1", "127.0.0.1:", "host.example:1", "127.0.0.1:65536", "[::1:1", "127.0.0.1:x"):
        check_says(box.tare("serve", "--once", "--listen", words).err, "an address and a port")
    with open(path, "w", encoding="utf-8") as file:
        file.write(TOKEN + "\n")
    os.chmod(path, 0o600)
    with serving(box, "--token-file", "token", ".") as server:
        def of(authorization):
            return server.status("/metrics", headers={"Authorization": authorization}, host="gpu1.example")

        def basic(user, password):
            return "Basic " + base64.b64encode((user + ":" + password).encode()).decode()

        check_equal([of(a) for a in (None, "", TOKEN, "Bearer", "Bearer ", "Bearer " + TOKEN[:-1], "Bearer " + TOKEN + "x",
                                     "Bearer " + TOKEN.upper(), "Basic " + TOKEN, basic(TOKEN, ""), basic("", TOKEN[1:]), "Basic ====")],
                    [401] * 12)
        check_equal([of(a) for a in ("Bearer " + TOKEN, "bearer  " + TOKEN, basic("", TOKEN), basic("me", TOKEN))], [200] * 4)
        answer, body = server.ask("/nothing", host="gpu1.example")
        check_equal((answer.status, answer.getheader("WWW-Authenticate")), (401, 'Basic realm="tare", charset="UTF-8"'), body)


@case
def a_client_that_hangs_holds_nobody(box):
    needs_server()
    box.record(fixture("e2e_steps"), rec="r.tare", input=b"quit\n")
    with serving(box, ".") as server:
        held = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(20)]
        for i, one in enumerate(held):
            one.settimeout(60 * PATIENCE)
            one.sendall((b"", b"GET /met", b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n")[i % 3])
        unread = socket.create_connection(("127.0.0.1", server.port))
        unread.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        unread.sendall(b"GET /r/r.tare HTTP/1.1\r\nHost: localhost\r\n\r\n" * 50)
        before = time.monotonic()
        check_equal([server.status("/metrics") for _ in range(5)], [200] * 5)
        check(time.monotonic() - before < 5, "others wait for it")
        crowd = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(150)]  # more than it takes
        for one in held + crowd:
            try:
                while one.recv(65536):
                    pass
            except ConnectionError:
                pass
            one.close()
        check_equal(server.status("/metrics"), 200, "it has not recovered")
        unread.close()


@case
def it_ends_while_clients_wait(box):
    needs_server()
    with serving(box) as server:  # of this machine
        check_equal(server.status("/"), 200)
        link = socket.create_connection(("127.0.0.1", server.port))
        taken = box.tare("serve", "--listen", "127.0.0.1:%d" % server.port)
        check_equal(taken.code, 125, taken)
        check_says(taken.err, "nothing can listen at 127.0.0.1:%d" % server.port)
        server.end()
        check_equal(link.recv(10), b"")


@case
def without_the_library(box):
    needs_server()
    with open(box.path("libmicrohttpd.so.12"), "w", encoding="utf-8"):
        pass
    done = box.tare("serve", env={"LD_LIBRARY_PATH": box.dir})
    check_equal(done.code, 125, done)
    check_says(done.err, "libmicrohttpd.so.12 is not there", "libmicrohttpd12", "tare serve --once")


# ---- files that others read ----

def names_of_metrics():
    """As samples are called: a counter ends in _total."""
    with open(os.path.join(ROOT, "src", "serve", "metrics.def"), encoding="utf-8") as file:
        rows = re.findall(r'^TARE_METRIC\((\w+), "(\w+)", (\w+), "(\w*)", "([\w,]*)"', file.read(), re.M)
    return {name + ("_total" if kind == "COUNTER" else ""): set(labels.split(",")) for _, name, kind, _, labels in rows}


def check_query(query, metrics):
    """Each metric is one that tare serve has, and each label that is asked of it."""
    named = re.findall(r"\b(tare_\w+)\b(?:\{([^}]*)\})?", query)
    check(named, "a query of nothing", query)
    for name, selectors in named:
        check(name in metrics, "no metric of tare serve: " + name, query)
        asked = set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", selectors))
        check(asked <= metrics[name] | {"instance", "job"}, "labels that %s does not have" % name, query)
    rows = [set(re.split(r"\W+", asked)) for asked in re.findall(r'row=~?"([a-z_|]+)"', query)]
    check(all(row <= ROWS for row in rows), "a row that there is not", query)


def rows_that_there_are():
    with open(os.path.join(ROOT, "src", "ledger", "core", "accounts.def"), encoding="utf-8") as file:
        accounts = re.findall(r'^TARE_ACCOUNT\(\d+,\s*\w+,\s*"(\w+)"', file.read(), re.M)
    return set(accounts) | {"tensors", "cached", "partly", "held", "not_recorded", "unexplained"}


ROWS = rows_that_there_are()


def monitoring(name):
    with open(os.path.join(ROOT, "examples", "monitoring", name), encoding="utf-8") as file:
        return file.read()


@case
def every_metric_is_declared_and_documented(box):
    needs_exec()
    metrics = names_of_metrics()
    families = metrics_of(box)
    check_equal({f.name + ("_total" if f.kind == "counter" else "") for f in families.values()}, set(metrics))
    for family in families.values():
        name = family.name + ("_total" if family.kind == "counter" else "")
        for labels, _ in family.samples:
            check_equal(set(labels), metrics[name] - {""}, name)
    with open(os.path.join(ROOT, "docs", "SERVE.md"), encoding="utf-8") as file:
        text = file.read()
    section = text.split("## Metrics")[1].split("\n## ")[0]
    said, first = set(), ""
    for row in re.findall(r"^\| (`[^|]*) \|", section, re.M):
        for name in re.findall(r"`([^`]+)`", row):
            first = first if name.startswith("…") else name
            ends = [n for n in metrics if n.endswith(name[1:]) and n.split("_")[:2] == first.split("_")[:2]]
            said |= set(ends) if name.startswith("…") else {name}
    check_equal(said, set(metrics), "docs/SERVE.md has others")
    rows = set(re.findall(r"`(\w+)`", text.split("| `row` |")[1].split("\n")[0]))
    check(rows - {"allocations", "vmm"} <= ROWS, rows - ROWS)


@case
def the_dashboard_shows_what_there_is(box):
    """The fields of Grafana's JSON model that it does not fill in by itself, and the queries."""
    board = json.loads(monitoring("dashboard.json"))
    metrics = names_of_metrics()
    check_equal({k for k in ("title", "uid", "schemaVersion", "panels", "templating", "time", "annotations", "refresh") if k in board},
                {"title", "uid", "schemaVersion", "panels", "templating", "time", "annotations", "refresh"})
    variables = [v["name"] for v in board["templating"]["list"]]
    check(set(variables) >= {"datasource", "instance", "gpu", "rank"}, variables)
    for variable in board["templating"]["list"]:
        check(variable["type"] in ("datasource", "query"), variable)
        if variable["type"] == "query":
            check_query(variable["query"]["query"], metrics)
            metric, label = re.fullmatch(r"label_values\((\w+).*, (\w+)\)", variable["query"]["query"]).groups()
            check(label in metrics[metric] | {"instance"}, variable)
    check_equal(len({p["id"] for p in board["panels"]}), len(board["panels"]))
    taken = set()
    for panel in board["panels"]:
        check(panel["type"] in ("timeseries", "stat", "table") and panel["title"] and panel["targets"], panel)
        at = panel["gridPos"]
        check(at["x"] + at["w"] <= 24, "wider than the grid", at)
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        check(not cells & taken, "panels over one another", panel["title"])
        taken |= cells
        check_equal(len({t["refId"] for t in panel["targets"]}), len(panel["targets"]))
        for target in panel["targets"]:
            check_query(target["expr"], metrics)
            check(set(re.findall(r"\$\{?(\w+)", target["expr"])) <= set(variables), target)
            check(target["expr"].count("(") == target["expr"].count(")"), target)
            check_equal(target["datasource"], {"type": "prometheus", "uid": "${datasource}"})
    first = board["panels"][0]
    check_equal(first["fieldConfig"]["defaults"]["custom"]["stacking"]["mode"], "normal")
    check(any(t["legendFormat"] == "used by NVML" for t in first["targets"]), first)


@case
def rules_ask_for_what_there_is(box):
    metrics = names_of_metrics()
    text = monitoring("rules.yaml")
    alerts = re.findall(r"- alert: (\w+)\n +expr: (\|\n(?: {10}.*\n)+|.*\n)", text)
    check_equal(len(alerts), text.count("- alert:"))
    check({"GpuMemoryGrows", "GpuMemoryNearlyFull"} <= {name for name, _ in alerts}, alerts)
    for _, query in alerts:
        check_query(query, metrics)
        check(query.count("(") == query.count(")"), query)
    for name in ("rules.yaml", "prometheus.yaml", "kubernetes.yaml"):
        for line in monitoring(name).splitlines():
            check("\t" not in line and (len(line) - len(line.lstrip())) % 2 == 0, "no YAML: " + name, line)
    said = {name for name in re.findall(r"`([\w.-]+)`", monitoring("README.md")) if os.path.exists(
        os.path.join(ROOT, "examples", "monitoring", name))}
    check_equal(said, set(os.listdir(os.path.join(ROOT, "examples", "monitoring"))) - {"README.md"})


if __name__ == "__main__":
    main()
