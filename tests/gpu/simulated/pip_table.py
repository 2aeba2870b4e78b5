#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs of pip on a simulated card, a row each: how it ended, what it needs, whether its ledger balances, what is told.

    pip_table.py TARE PYTHON NAME…

NAME is one of pip_programs.py; NAME@2 is started by torchrun as two ranks on two cards, NAME*2 by itself on two. CARD in the
environment is another card than h100, or `real`: the GPU that is there. The output of each is beside its recording, in the folder pip
below the current one. A program whose packages are not there is no row. With two tables of this, `--beside REAL SIMULATED` says by what
their programs differ.
"""

import json
import os
import re
import subprocess
import sys
import time

PACKAGES = {"torch_alone": ("torch",), "triton": ("torch", "triton"), "numba_cuda": ("numba-cuda", "numba"), "cupy": ("cupy",),
            "jax": ("jax", "jaxlib"), "lightning": ("torch", "lightning"), "transformers_trainer": ("torch", "transformers", "accelerate"),
            "vision": ("torch", "torchvision"), "decode": ("torch", "transformers")}
PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pip_programs.py")
CARD = os.environ.get("CARD", "h100")
LIMIT = os.environ.get("LIMIT", "600")


def versions(python, name):
    """Of a program's packages, as that Python has them; None: one is not there."""
    ask = ("import sys\nfrom importlib import metadata\n"
           "have = {d.metadata['Name']: d.version for d in metadata.distributions()}\n"
           "for name in sys.argv[1:]:\n"
           "    print(next(k + ' ' + v for k, v in have.items() if k == name or name == 'cupy' and k.startswith('cupy-cuda')))")
    done = subprocess.run([python, "-c", ask, *PACKAGES.get(name, ())], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          check=False)
    return None if done.returncode else ", ".join(done.stdout.split("\n")[:-1])


def row(tare, python, word):
    name, kind, count = re.fullmatch(r"(\w+)(?:([@*])(\d+))?", word).groups()
    packages = versions(python, name)
    if packages is None:
        return None
    recording = os.path.join("pip", re.sub(r"\W", "_", word) + ".tare")
    command = [python, "-m", "torch.distributed.run", "--nproc-per-node", count] if kind == "@" else [python]
    begin = time.time()
    with open(recording[:-4] + "txt", "w", encoding="utf-8") as out:
        card = [] if CARD == "real" else ["--sim", CARD + (":" + count if count else "")]
        done = subprocess.run(["timeout", LIMIT, tare, "record", "-f", "-o", recording, *card, "--", *command, PROGRAMS, name],
                              stdout=out, stderr=out, check=False)
    seconds = time.time() - begin
    report = subprocess.run([tare, "report", "--json", "--at", "peak", recording], stdout=subprocess.PIPE, check=False).stdout
    ledger = json.loads(report) if report else {"devices": [], "degraded": []}
    device = max(ledger["devices"], key=lambda d: d["used_bytes"], default=None)
    unexplained = max((abs(d["unexplained_bytes"]) for d in ledger["devices"]), default=0)
    return "| %s | %s | %d | %s | %s | %.3f | %.0f | %s |" % (
        word, packages, done.returncode, "%.1f" % (device["used_bytes"] / (1 << 20)) if device else "–", said(recording[:-4] + "txt"),
        unexplained / (1 << 20), seconds, "; ".join(ledger["degraded"]))


def said(path):
    """What the program says that PyTorch allocated at most, in bytes."""
    with open(path, encoding="utf-8", errors="replace") as file:
        found = re.findall(r"peak allocated (\d+)", file.read())
    return found[-1] if found else "–"


def rows_of(path):
    with open(path, encoding="utf-8") as file:
        rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in file if line.startswith("| ")]
    return {row[0]: row for row in rows if row[0] != "program"}


def beside(real, simulated):
    print("| program | versions on the card; simulated | used, MiB | simulated | off | peak allocated, bytes off |\n|---|---|---|---|---|---|")
    others = rows_of(simulated)
    for name, row in rows_of(real).items():
        other = others.get(name)
        if not other or row[2] != "0" or other[2] != "0":
            print("| %s | ended with %s; %s |" % (name, row[2], other[2] if other else "not run"))
            continue
        packages = row[1] if row[1] == other[1] else row[1] + "; " + other[1]
        peak = "–" if "–" in (row[4], other[4]) else "%+d" % (int(other[4]) - int(row[4]))
        print("| %s | %s | %s | %s | %+.1f | %s |" % (name, packages, row[3], other[3], float(other[3]) - float(row[3]), peak))


def main():
    if sys.argv[1:2] == ["--beside"]:
        return beside(*sys.argv[2:])
    tare, python, *words = sys.argv[1:]
    os.makedirs("pip", exist_ok=True)
    print("| program | versions | exit | used, MiB | peak allocated, bytes | unexplained, MiB | s | told |\n|---|---|---|---|---|---|---|---|")
    for word in words:
        line = row(tare, python, word)
        print(line if line else "%s: its packages are not here" % word, flush=True)
    return None


if __name__ == "__main__":
    main()
