# SPDX-License-Identifier: Apache-2.0
"""check.py TARE OUTPUT_FOLDER: see ../weigh.sh."""

import json
import os
import shutil
import subprocess
import sys

MIB = 1 << 20
tare, out = sys.argv[1:]
rows, failed = [], 0


def ask(*args):
    done = subprocess.run([tare, *args, "--json"], stdout=subprocess.PIPE, check=True)
    with open(os.path.join(out, args[0] + ".json"), "wb") as file:
        file.write(done.stdout)
    return json.loads(done.stdout)


def row(what, wanted, got, within):
    global failed
    is_good = got is not None and abs(got - wanted) <= within
    failed += not is_good
    rows.append("%-52s %14d %14s  %s" % (what, wanted, got, "ok" if is_good else "OFF"))


def resident(process, prefix):
    return sum(r["resident_bytes"] for r in process["rows"] if r["path"].startswith(prefix))


program = subprocess.Popen([sys.executable, os.path.join(os.path.dirname(__file__), "program.py")],
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
program.stdout.readline()
before = ask("weigh", str(program.pid))["processes"][0]
program.stdin.write("\n")
program.stdin.flush()
allocated, reserved, free = [int(word) for word in program.stdout.readline().split()]
after = ask("weigh", str(program.pid))["processes"][0]
tools = {t["word"]: t["bytes"] for t in ask("explain", str(program.pid))["tools"]}
ps = int(subprocess.run(["ps", "-o", "rss=", "-p", str(program.pid)], stdout=subprocess.PIPE, check=True).stdout) * 1024
smi = []
if shutil.which("nvidia-smi"):
    shown = subprocess.run(["nvidia-smi", "--query-compute-apps=pid,used_gpu_memory", "--format=csv,noheader,nounits"],
                           stdout=subprocess.PIPE, text=True, check=False).stdout
    smi = [int(line.split(",")[1]) * MIB for line in shown.splitlines() if line.split(",")[0] == str(program.pid)]

for name, process in (("before", before), ("after", after)):
    total = process["pss_bytes"] + process["swap_bytes"]
    row(name + ": rows less Pss and swap", 0, sum(r["resident_bytes"] for r in process["rows"]) - total, 0)
    row(name + ": unexplained", 0, resident(process, "unexplained"), total // 100)
row("CUDA pinned: what 256 MiB brought", 256 * MIB, resident(after, "CUDA pinned/") - resident(before, "CUDA pinned/"), 4 * MIB)
row("private: what 100 MiB brought", 100 * MIB, sum(resident(after, k) - resident(before, k)
                                                    for k in ("anonymous/", "heap/", "huge pages/", "lazily freed/")), 16 * MIB)
row("explain: ps RSS", ps, tools["ps"], ps // 100)
if smi:
    row("explain: nvidia-smi process", smi[0], tools["nvidia-smi"], MIB)
row("explain: cudaMemGetInfo free", free, tools["cudamemgetinfo"], max(free // 100, 16 * MIB))
program.communicate("\n")
for kind in sorted({r["path"].split("/")[0] for r in after["rows"]}):
    print("%-20s %10.1f MiB resident %14.1f MiB of addresses" % (
        kind, resident(after, kind) / MIB, sum(r["mapped_bytes"] for r in after["rows"] if r["path"].split("/")[0] == kind) / MIB))
print("torch: allocated %d, reserved %d" % (allocated, reserved))
print("\n%-52s %14s %14s" % ("", "wanted", "got"))
print("\n".join(rows))
sys.exit(1 if failed else 0)
