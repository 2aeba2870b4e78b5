# SPDX-License-Identifier: Apache-2.0
"""What a recording says tensors are for, beside what the program's own objects take at the same instants.

    objects.py TARE RECORDING FIGURES NAME

FIGURES are the lines of JSON that programs/resnet50_objects.py or programs/fsdp_categories.py prints. Prints every
figure that is more than 1 % off, torch.profiler's categories beside ours at the peak of tensors, how many tensors have
names where the program ends, and last a row for table.py.
"""

import json
import subprocess
import sys

MIB = 1 << 20
CATEGORIES = ("parameter", "buffer/state", "gradient", "optimizer state", "input", "communication")
NAMED = ("parameter", "gradient", "optimizer state")


def ask(tare, recording, by, instants):
    """Rows of devices."""
    at = [word for instant in instants for word in ("--at", instant)]
    done = subprocess.run([tare, "report", recording, "--by", by, "--json"] + at,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise RuntimeError((done.stderr.strip() or "no answer").splitlines()[-1])
    first = json.loads(done.stdout)
    return [row for one in [first] + first.get("also", []) for row in one["rows"]
            if row.get("device") is not None and row["device"] >= 0]


def sums(rows, instant=None, device=None):
    out = {}
    for row in rows:
        if instant in (None, row.get("at")) and device in (None, row["device"]):
            out[row["label"]] = out.get(row["label"], 0) + row["bytes"]
    return out


def end_of(said):
    return "phase:%s:end" % said["mark"]


def names(rows):
    """How many of the tensors that have a name in the program have it here."""
    for row in sorted((row for row in rows if row["name"]), key=lambda row: -row["bytes"])[:6]:
        print("%12d B  %-16s %s" % (row["bytes"], row["category"], row["name"]))
    return "names: " + ", ".join("%d of %d %ss" % (
        sum(bool(row["name"]) for row in rows if row["category"] == category),
        sum(row["category"] == category for row in rows), category) for category in NAMED)


def scans(tare, recording):
    """Looks through the program's objects, and how many could read tensors in PyTorch's own structures."""
    done = subprocess.run([tare, "dump", recording, "--kind", "scan"], stdout=subprocess.PIPE, text=True)
    found = [line for line in done.stdout.splitlines() if " scan " in line]
    return "%d looks, %d of them read tensors" % (len(found), sum("gradients" in line for line in found))


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
    marks = [said for said in figures if "mark" in said]
    found = ask(tare, recording, "category", [end_of(said) for said in marks])
    good = total = 0
    temporary = 0.0
    for said in marks:
        ours = sums(found, end_of(said), said.get("device"))
        for category in (c for c in CATEGORIES if c in said):
            is_good = is_close(said[category], ours.get(category, 0))
            good += is_good
            total += 1
            if not is_good:
                print("%-14s %-16s program %14d tare %14d" % (said["mark"], category, said[category],
                                                              ours.get(category, 0)))
        if "step" in said["mark"]:
            temporary = max(temporary, 100.0 * ours.get("temporary", 0) / max(sum(ours.values()), 1))
    peak = sums(ask(tare, recording, "category", ["peak:tensors"]))
    last = marks[-1]
    named = scans(tare, recording) + "; " + names([row for row in ask(tare, recording, "tensor", [end_of(last)])
                   if last.get("device") in (None, row["device"])])
    more = beside_profiler(figures, peak)
    print(json.dumps({
        "program": name, "verdict": "ok" if total and good == total and temporary <= 1 else "DIFFERS",
        "rows": "%d of %d figures within 1 %%; temporary at step ends <= %.2f %%; %s; at peak:tensors %s%s" % (
            good, total, temporary, named, " · ".join("%s %.1f" % (k, v / MIB) for k, v in sorted(
                peak.items(), key=lambda kv: -kv[1]) if v >= MIB / 20), more)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
