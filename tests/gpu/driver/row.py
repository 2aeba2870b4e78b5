# SPDX-License-Identifier: Apache-2.0
"""One row of the table of driver.sh: what a recording says, as a line of JSON on stdout.

    row.py TARE RECORDING NAME CODE ACCOUNTS [NODES]

CODE is the program's exit code; 124 and 137 mean that its time was up. ACCOUNTS are the keys of
src/ledger/core/accounts.def worth a word, separated by commas. NODES is the output of programs/graph_nodes.
"""

import json
import re
import subprocess
import sys

MIB = 1 << 20
BAR = 2.0  # MiB


def ask(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise RuntimeError((done.stderr.strip() or "no answer").splitlines()[-1])
    return done.stdout


def ledger(tare, recording, instant):
    devices = [d for d in json.loads(ask(tare, "report", recording, "--at", instant, "--json"))["devices"]
               if any(a["pid"] is not None and a["account"] != "other" for a in d["accounts"])]
    if not devices:
        raise RuntimeError("no GPU in the recording")
    return devices


def off(devices):
    known = [d["unexplained_bytes"] for d in devices]
    return None if None in known else max(known, key=abs) / MIB


def rows(devices, keys):
    found = {}
    for account in (a for d in devices for a in d["accounts"] if a["leaf"] and a["account"] in keys):
        name = re.sub(r"^.*?process:[^/]*/", "", account["path"])
        found[name] = found.get(name, 0) + account["bytes"]
    return found


def weigh_share(tare, recording):
    ends = [json.loads(line) for line in ask(tare, "dump", recording, "--kind", "end", "--json").splitlines()]
    shares = [100 * e["weigh_ticks"] / max(1, e["run_ticks"]) for e in ends if "weigh_ticks" in e]
    return max(shares, default=None)


def node_bytes(tare, recording, nodes):
    """Bytes a node by kind: what the driver took inside instantiating, uploading and launching each graph."""
    grown, kinds = [], [line.split() for line in open(nodes) if len(line.split()) == 2]
    names = {}
    for line in ask(tare, "dump", recording, "--json").splitlines():
        record = json.loads(line)
        if record.get("kind") == "string":
            names[record["id"]] = record.get("text", "")
        api = names.get(record["api"], "") if record.get("kind") == "event" else ""
        if api.startswith("cuGraphInstantiate"):
            grown.append(0)
        if grown and api.startswith("cuGraph") and "weighed" in re.split("[^a-z-]+", record["flags"]):
            grown[-1] += record["after"] - record["before"]
    return ["%s %.0f B" % (kind, by / int(n)) for (kind, n), by in zip(kinds, grown)]


def interest(tare, recording, keys, peak, end, nodes):
    at_peak, at_end = rows(peak, keys), rows(end, keys)
    names = sorted(set(at_peak) | set(at_end), key=lambda n: -max(at_peak.get(n, 0), at_end.get(n, 0)))
    words = ["%s %.1f/%.1f" % (n, at_peak.get(n, 0) / MIB, at_end.get(n, 0) / MIB) for n in names[:6]]
    return " · ".join(words + (node_bytes(tare, recording, nodes) if nodes else []))


def verdict(code, offs):
    if code in (124, 137):
        return "TIME UP"
    if code:
        return "EXIT %d" % code
    return "ok" if all(v is not None and abs(v) <= BAR for v in offs) else "TOO MUCH"


def main():
    tare, recording, name, code, keys = sys.argv[1:6]
    row = {"program": name}
    try:
        peak, end = ledger(tare, recording, "peak"), ledger(tare, recording, "end")
        row.update(
            peak=[d["used_bytes"] / MIB for d in peak], peak_off=off(peak),
            end=[d["used_bytes"] / MIB for d in end], end_off=off(end),
            weighing=weigh_share(tare, recording))
        row["verdict"] = verdict(int(code), (row["peak_off"], row["end_off"]))
        row["rows"] = interest(tare, recording, keys.split(","), peak, end, *sys.argv[6:7] or [None])
    except (RuntimeError, ValueError, KeyError, OSError) as e:
        row["verdict"] = verdict(int(code), ()) if int(code) else "NO LEDGER"
        row["rows"] = str(e)
    print(json.dumps(row))


if __name__ == "__main__":
    main()
