#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs train.py bare and recorded, shows the report, and prints what it says of each part: table.py TARE OUTPUT_FOLDER"""

import json
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
MIB = 1 << 20
WAYS = [("bare", None), ("run", []), ("--host=sample", ["--host=sample"]), ("--host=full", ["--host=full"])]
TURNS, STEPS = int(os.environ.get("TURNS", 3)), 60


def train(tare, rec, options):
    argv = [sys.executable, os.path.join(HERE, "train.py"), str(STEPS)]
    if options is not None:
        argv = [tare, "record", "-f", "-o", rec] + options + ["--"] + argv
    begin = time.perf_counter()
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, check=False)
    if done.returncode:
        sys.exit("%s: exit %d: %s" % (" ".join(argv), done.returncode, done.stderr[-2000:]))
    said = json.loads(done.stdout.splitlines()[-1])
    said["seconds"] = time.perf_counter() - begin
    said["mib"] = (sum(os.path.getsize(os.path.join(rec, name)) for name in os.listdir(rec)) / MIB
                   if options is not None else 0)
    return said


def report(tare, rec, *options):
    return json.loads(subprocess.check_output([tare, "report", rec, "--json"] + list(options)))


def changes(tare, rec):
    """{part: {device: bytes}}; device "heap" or "GPU"."""
    out = {}
    for row in report(tare, rec, "--by", "phase")["rows"]:
        device = "heap" if row["device"] == 1000 else "GPU" if row["device"] is not None else "CPU"
        out.setdefault(row["label"], {})[device] = row["bytes"]
    return out


def mib(bytes_):
    return "–" if bytes_ is None else "%.1f" % (bytes_ / MIB)


def main():
    tare, out = sys.argv[1:]
    runs = {name: [] for name, _ in WAYS}
    for turn in range(TURNS):
        for name, options in WAYS:
            rec = os.path.join(out, name.strip("-").replace("=", "-") + ".tare")
            runs[name].append(train(tare, rec, options))
    full, sample = (os.path.join(out, "host-%s.tare" % how) for how in ("full", "sample"))
    for rec in (full, sample):
        subprocess.run([tare, "report", rec], check=True)
    subprocess.run([tare, "report", full, "--by", "phase"], check=True)
    said, by_part = runs["--host=full"][-1], changes(tare, full)
    sampled = changes(tare, sample)
    print("\n| part | host: asked of malloc and mapped | … by the sample | resident | of it files | GPU |\n|---|---|---|---|---|---|")
    for part, of in said["parts"].items():
        grown = {key: of["after"][key] - of["before"][key] for key in of["before"]}
        print("| %s | %s | %s | %s | %s | %s |" % (
            part, mib(by_part.get(part, {}).get("heap")), mib(sampled.get(part, {}).get("heap")),
            mib(grown["VmRSS"]), mib(grown["RssFile"] + grown["RssShmem"]), mib(by_part.get(part, {}).get("GPU"))))
    host = report(tare, full, "--at", "end")["host"][0]
    print("\nweights %s MiB; pinned by the program %s, by the ledger %s MiB" % (
        mib(said["weights"]), mib(said["pinned"]), mib(host["pinned_bytes"])))
    print("\n| | step, ms (median of %d runs; least, most) | whole run, s | most resident, MiB | recording, MiB |\n|---|---|---|---|---|" % TURNS)
    for name, _ in WAYS:
        steps = [run["step_ms"] for run in runs[name]]
        print("| %s | %.2f (%.2f, %.2f) | %.1f | %s | %.1f |" % (
            name, statistics.median(steps), min(steps), max(steps), statistics.median(run["seconds"] for run in runs[name]),
            mib(statistics.median(run["end"]["VmHWM"] for run in runs[name])), runs[name][-1]["mib"]))


main()
