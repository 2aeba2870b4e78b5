#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is said of a server beside what is found by trying: measure.py TARE OUT [--sim GPU]; see ../serving.sh."""
import json
import os
import subprocess
import sys
import time

PROGRAMS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "programs")
MIB = 1 << 20
STEP = 64  # MiB: how near trying comes
TARE, OUT = sys.argv[1:3]
SIM = ["--sim", sys.argv[4]] if sys.argv[3:4] == ["--sim"] else []
SMALL = ["--requests", "32"]
LARGE = ["--layers", "16", "--width", "2048", "--heads", "16", "--prompt", "1024", "--vocabulary", "32000", "--requests", "48"]
SIZES = SMALL if SIM else LARGE


def record(name, program, *args):
    path = os.path.join(OUT, name + ".tare")
    done = subprocess.run([TARE, "record", *SIM, "-f", "-o", path, "--", sys.executable, os.path.join(PROGRAMS, program), *args],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit("%s: exit code %d\n%s" % (program, done.returncode, done.stderr[-2000:]))
    return path


def serving(path, *args):
    return json.loads(subprocess.run([TARE, "report", path, "--by", "serving", "--json", *args], capture_output=True, text=True,
                                     check=True).stdout)


def graphs(path):
    """All graphs after 4 of them: as foretold, the interval, two samples as vLLM takes them, and what all took."""
    said = serving(path)
    rows, server = said["graphs"], said["servers"][0]
    took = [g["pool_bytes"] + g["driver_bytes"] for g in rows]
    few = serving(path, "--at", "%.9fs" % (rows[4]["begin_ns"] / 1e9 - 1e-6), "--graphs", str(len(rows)))["servers"][0]
    if few["graphs"] != 4:
        sys.exit("%d graphs, not 4, are there when the fifth begins" % few["graphs"])
    return {"graphs": len(rows), "foretold": few["graphs_all_bytes"], "low": few["graphs_all_low_bytes"],
            "high": few["graphs_all_high_bytes"], "two_samples": took[0] + took[1] * (len(rows) - 1), "found": sum(took),
            "card": server["total_bytes"]}


def runs(cache):
    command = [sys.executable, os.path.join(PROGRAMS, "mini_server.py"), *SIZES, "--cache", str(cache)]
    if SIM:
        command = [TARE, "record", *SIM, "-f", "-o", os.path.join(OUT, "try.tare"), "--", *command]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        sys.exit("exit code %d\n%s" % (done.returncode, done.stderr[-2000:]))
    return done.returncode == 0


def largest(near):
    """The largest cache with which the server runs, and the least with which it does not, in MiB: from near what was said."""
    low, high, by = near - STEP // 2, near + STEP // 2, STEP
    while not runs(low):
        low, high, by = low - by, low, by * 4
    while high > low + STEP or not tried(high):
        middle = high if not tried(high) else (low + high) // 2
        if runs(middle):
            low, high, by = middle, middle + by, by * 4
        else:
            high = middle
            TRIED.add(high)
    return low, high


TRIED = set()


def tried(cache):
    return cache in TRIED


def mib(n):
    return "%.1f" % (n / MIB)


def card():
    if SIM:
        return "simulated " + SIM[1]
    done = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True,
                          text=True, check=False)
    return done.stdout.strip().split("\n")[0]


def main():
    begin, lines = time.time(), []
    version = subprocess.run([sys.executable, "-c", "import torch, transformers; print(torch.__version__, transformers.__version__)"],
                             capture_output=True, text=True, check=False).stdout.split()
    path = record("server", "mini_server.py", *SIZES, "--cache", "30000")
    server = serving(path)["servers"][0]
    said = server["largest_cache_bytes"] // MIB
    of = {"mini_server.py": graphs(path)}
    try:
        of["static_cache.py"] = graphs(record("static", "static_cache.py", *([] if SIM else ["16", "2048", "16384", "8"])))
    except SystemExit as why:
        print("static_cache.py: %s" % why)
    low, high = largest(said)
    text = subprocess.run([TARE, "report", path, "--by", "serving"], capture_output=True, text=True, check=False).stdout
    with open(os.path.join(OUT, "serving.json"), "w", encoding="utf-8") as f:
        json.dump({"server": server, "graphs": of, "largest": [low, high]}, f, indent=1)
    print(text)
    lines.append("%s · torch %s · transformers %s · %.0f s" % (card(), *(version or ["?", "?"]), time.time() - begin))
    lines.append("| program | graphs | after 4 of them: all will take, MiB | two samples | found | off, of the card |")
    lines.append("|---|---|---|---|---|---|")
    for name, g in of.items():
        lines.append("| %s | %d | %s (%s to %s) | %s | %s | %.3f %% |" % (
            name, g["graphs"], mib(g["foretold"]), mib(g["low"]), mib(g["high"]), mib(g["two_samples"]), mib(g["found"]),
            100 * abs(g["foretold"] - g["found"]) / g["card"]))
    lines.append("")
    lines.append("largest cache: said to be safe %d MiB; runs with %d, not with %d: %s" % (
        said, low, high, "within %d MiB" % STEP if low - STEP <= said <= high else "OFF by %d MiB" % max(low - said, said - high)))
    print("\n".join(lines))
    bad = any(abs(g["foretold"] - g["found"]) > g["card"] / 100 for g in of.values())
    sys.exit(1 if bad or len(of) < 2 or not low - STEP <= said <= high else 0)


main()
