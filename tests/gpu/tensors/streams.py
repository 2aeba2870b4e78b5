# SPDX-License-Identifier: Apache-2.0
"""What a recording says of PyTorch's pool by stream beside torch.cuda.memory_snapshot() at the same instants.

    streams.py TARE RECORDING FIGURES NAME

FIGURES are the lines of JSON that programs/torch_streams.py prints: {"mark": PHASE, "streams": [{"handle": cudaStream_t,
"id": c10::StreamId, "reserved": …, "live": …}]} for the end of a phase. Prints a table, and last a row for table.py.
Equal means to the byte.
"""

import json
import subprocess
import sys


def report(tare, recording, instant):
    done = subprocess.run([tare, "report", recording, "--at", instant, "--by", "stream", "--json"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise RuntimeError((done.stderr.strip() or "no answer").splitlines()[-1])
    return json.loads(done.stdout)


def ours(rows):
    """By id; what has none has no stream that is known."""
    return {None if r.get("id") is None else int(r["id"], 16):
            (r["label"], r["bytes"], r["live_bytes"], r["blocks_otherwise"]) for r in rows}


def theirs(rows):
    """A stream of torch's that the program does not know has its handle for an id: that is nobody's."""
    return {("handle", r["handle"]) if r["id"] is None else r["id"]: (r["reserved"], r["live"]) for r in rows}


def main(tare, recording, figures, name):
    good = total = otherwise = 0
    kinds = set()
    print("%-14s %-32s %12s %12s %12s %12s" % (name, "stream", "reserved", "tare", "live", "tare"))
    for row in (json.loads(line) for line in open(figures) if line.startswith("{")):
        said = report(tare, recording, "phase:%s:end" % row["mark"])
        mine, torch = ours(said.get("rows", [])), theirs(row["streams"])
        for key in sorted(set(mine) | set(torch), key=str):
            label, bytes_, live, others = mine.get(key, ("torch's %s" % (key,), 0, 0, 0))
            reserved, allocated = torch.get(key, (0, 0))
            is_same = (bytes_, live) == (reserved, allocated) and key is not None
            print("%-14s %-32s %12d %12d %12d %12d  %s" % (
                row["mark"], label, reserved, bytes_, allocated, live, "=" if is_same else "DIFFERS"))
            good += 2 * is_same
            total += 2
            otherwise = max(otherwise, others)
            kinds.add(label)
    print(json.dumps({
        "program": name, "verdict": "ok" if total and good == total else "DIFFERS",
        "rows": "%d of %d figures equal to the byte; %d streams; %d blocks said to be on another" % (
            good, total, len(kinds), otherwise)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
