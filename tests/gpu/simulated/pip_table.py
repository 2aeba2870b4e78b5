#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs of pip on a simulated card, a row each: how it ended, what it needs, whether its ledger balances, what is told.

    pip_table.py TARE PYTHON NAME…

NAME is one of pip_programs.py; NAME@2 is started by torchrun as two ranks on two cards, NAME*2 by itself on two. CARD in the
environment is another card than h100. The output of each is beside its recording, in the folder pip below the current one.
"""

import json
import os
import re
import subprocess
import sys
import time

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pip_programs.py")
CARD = os.environ.get("CARD", "h100")


def row(tare, python, word):
    name, kind, count = re.fullmatch(r"(\w+)(?:([@*])(\d+))?", word).groups()
    recording = os.path.join("pip", re.sub(r"\W", "_", word) + ".tare")
    command = [python, "-m", "torch.distributed.run", "--nproc-per-node", count] if kind == "@" else [python]
    begin = time.time()
    with open(recording[:-4] + "txt", "w", encoding="utf-8") as out:
        done = subprocess.run([tare, "record", "-f", "-o", recording, "--sim", CARD + (":" + count if count else ""), "--",
                               *command, PROGRAMS, name], stdout=out, stderr=out, check=False)
    seconds = time.time() - begin
    report = subprocess.run([tare, "report", "--json", "--at", "peak", recording], stdout=subprocess.PIPE, check=False).stdout
    ledger = json.loads(report) if report else {"devices": [], "degraded": []}
    device = max(ledger["devices"], key=lambda d: d["used_bytes"], default=None)
    unexplained = max((abs(d["unexplained_bytes"]) for d in ledger["devices"]), default=0)
    return "| %s | %d | %s | %.3f | %.0f | %s |" % (
        word, done.returncode, "%.1f" % (device["used_bytes"] / (1 << 20)) if device else "–", unexplained / (1 << 20), seconds,
        "; ".join(ledger["degraded"]))


def main():
    tare, python, *words = sys.argv[1:]
    os.makedirs("pip", exist_ok=True)
    print("| program | exit | used, MiB | unexplained, MiB | s | told |\n|---|---|---|---|---|---|")
    for word in words:
        print(row(tare, python, word), flush=True)


if __name__ == "__main__":
    main()
