# SPDX-License-Identifier: Apache-2.0
"""What a recording says tensors are for, beside what the program's own objects take at the same instants.

    objects.py TARE RECORDING FIGURES NAME

FIGURES are the lines of JSON that programs/resnet50_objects.py prints. Prints every figure that is more
than 1 % off, torch.profiler's categories beside ours at the peak of tensors, and last a row for table.py.
"""

import json
import subprocess
import sys

MIB = 1 << 20
CATEGORIES = ("parameter", "buffer/state", "gradient", "optimizer state", "input")


def rows(tare, recording, instant):
    done = subprocess.run([tare, "report", recording, "--at", instant, "--by", "category", "--json"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise RuntimeError((done.stderr.strip() or "no answer").splitlines()[-1])
    out = {}
    for row in json.loads(done.stdout)["rows"]:
        if row.get("device") is not None and row["device"] >= 0:
            out[row["label"]] = out.get(row["label"], 0) + row["bytes"]
    return out


def is_close(said, ours):
    return abs(ours - said) <= max(said * 0.01, 4096)


def beside_profiler(figures, ours):
    for line in figures:
        theirs = line.get("profiler")
        if "profiler" in line and theirs is None:
            print("torch.profiler's timeline: %s" % line["why"])
        elif theirs:
            print("at the peak of tensors, MiB   torch.profiler | tare")
            print("  " + " · ".join("%s %.1f" % (k.lower(), v / MIB) for k, v in sorted(
                theirs.items(), key=lambda kv: -kv[1]) if v))
            print("  " + " · ".join("%s %.1f" % (k, v / MIB) for k, v in sorted(
                ours.items(), key=lambda kv: -kv[1]) if v))
            return "; torch.profiler's Unknown %.1f MiB, sum %.1f, ours 0 and %.1f" % (
                theirs.get("UNKNOWN", 0) / MIB, sum(theirs.values()) / MIB, sum(ours.values()) / MIB)
    return ""


def main(tare, recording, figures_path, name):
    figures = [json.loads(line) for line in open(figures_path) if line.startswith("{")]
    good = total = 0
    temporary = 0.0
    for said in figures:
        if "mark" not in said:
            continue
        ours = rows(tare, recording, "phase:%s:end" % said["mark"])
        for category in CATEGORIES:
            is_good = is_close(said[category], ours.get(category, 0))
            good += is_good
            total += 1
            if not is_good:
                print("%-14s %-16s program %14d tare %14d" % (said["mark"], category, said[category],
                                                              ours.get(category, 0)))
        if said["mark"].startswith("step"):
            temporary = max(temporary, 100.0 * ours.get("temporary", 0) / max(sum(ours.values()), 1))
    peak = rows(tare, recording, "peak:tensors")
    more = beside_profiler(figures, peak)
    print(json.dumps({
        "program": name, "verdict": "ok" if total and good == total and temporary <= 1 else "DIFFERS",
        "rows": "%d of %d figures within 1 %%; temporary at step ends <= %.2f %%; at peak:tensors %s%s" % (
            good, total, temporary, " · ".join("%s %.1f" % (k, v / MIB) for k, v in sorted(
                peak.items(), key=lambda kv: -kv[1]) if v >= MIB / 20), more)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
