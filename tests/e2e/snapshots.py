# SPDX-License-Identifier: Apache-2.0
"""Memory snapshots in tests: as recordings, with `tare import`, and replayed, with `tare whatif`."""

import json
import os
import pickle

from harness import check_equal


def write(box, data, name="s.pickle"):
    path = os.path.join(box.dir, name)
    with open(path, "wb") as out:
        out.write(data)
    return path


def whatif(box, path, *options, code=0):
    done = box.tare("whatif", path, *options, "--json")
    check_equal(done.code, code, done)
    return json.loads(done.out)


def replay_figures(got):
    return tuple(got[k] for k in ("allocated_bytes", "reserved_bytes", "peak_allocated_bytes", "peak_reserved_bytes"))


def imported(box, data, name="s", code=0):
    """A folder of the recording; `data`: a snapshot, or its bytes."""
    path = box.path(name + ".pickle")
    with open(path, "wb") as out:
        out.write(data if isinstance(data, bytes) else pickle.dumps(data))
    done = box.tare("import", path, "-f", "-o", box.path(name + ".tare"))
    check_equal(done.code, code, done)
    return box.path(name + ".tare")


def said(box, rec):
    """Where the figures come from, and what is in none."""
    ledger = report(box, rec)
    return ledger["notes"] + ledger["degraded"]


def report(box, rec, *options):
    done = box.tare("report", rec, "--json", *options)
    check_equal(done.code, 0, done)
    return json.loads(done.out)


def pools(box, rec, at):
    """Of each GPU: bytes in blocks, and in segments."""
    sums = {}
    for row in report(box, rec, "--by", "pool", "--at", at)["rows"]:
        live, all_of_it = sums.get(row["device"], (0, 0))
        sums[row["device"]] = live + row["live_bytes"], all_of_it + row["bytes"]
    return sums


def figures(box, rec, device=0):
    end, most = pools(box, rec, "end")[device], pools(box, rec, "peak:tensors")[device]
    return end + (most[0], pools(box, rec, "peak")[device][1])


def with_times(snapshot, lines=True):
    """A microsecond between two events, and a line for each size."""
    for trace in snapshot["device_traces"]:
        for at, entry in enumerate(trace):
            entry["time_us"] = 1700000000000000 + 1000 * at
            if lines and entry["action"] in ("alloc", "segment_alloc"):
                entry["frames"] = [{"name": "step", "filename": "train.py", "line": 1 + entry["size"] % 7},
                                   {"name": "<module>", "filename": "train.py", "line": 99}]
    return snapshot
