# SPDX-License-Identifier: Apache-2.0
"""What CUPTI took, by the readings of programs/cupti_memory.py, beside what a recording says of it.

    cupti.py TARE RECORDING STEPS NAME

Prints each step in which the device's memory moved, the accounts of CUPTI, and last a row for table.py.
"""

import json
import subprocess
import sys

MIB = 1 << 20


def main(tare, recording, path, name):
    steps = [json.loads(line) for line in open(path) if line.startswith("{")]
    for step in steps:
        if step["grew_bytes"] or step["result"]:
            print("%+9.3f MiB  %s%s" % (step["grew_bytes"] / MIB, step["step"],
                                        " returned %d" % step["result"] if step["result"] else ""))
    ours, unexplained = {}, 0
    for instant in ("peak", "end"):
        done = subprocess.run([tare, "report", recording, "--at", instant, "--json"], stdout=subprocess.PIPE, text=True)
        for device in json.loads(done.stdout)["devices"]:
            rows = [a for a in device["accounts"] if a["account"] == "profiler" and a["leaf"]]
            ours[instant] = ours.get(instant, 0) + sum(row["bytes"] for row in rows)
            if any(a["account"] == "context" for a in device["accounts"]):  # the program's own device
                unexplained = max(unexplained, abs(device["unexplained_bytes"]))
            for row in rows:
                print("%9.3f MiB  %s at %s (%s)" % (row["bytes"] / MIB, row["path"], instant, row["evidence"]))
    took = sum(step["grew_bytes"] for step in steps if "launch" not in step["step"])
    print(json.dumps({
        "program": name, "verdict": "ok" if unexplained < 2 * MIB else "UNEXPLAINED",
        "rows": "in CUPTI's own calls %.1f MiB, at launches %.1f; in Tare's accounts of CUPTI %s; unexplained, at the peak "
                "or the end, %.3f" % (took / MIB, sum(s["grew_bytes"] for s in steps if "launch" in s["step"]) / MIB,
                                      ", ".join("%.1f at %s" % (v / MIB, k) for k, v in ours.items()),
                                      unexplained / MIB)}))


main(*sys.argv[1:])
