# SPDX-License-Identifier: Apache-2.0
"""The table of overhead.sh, in Markdown: table.py LINES.jsonl. Exit code 1 if nothing was measured."""

import json
import statistics
import sys

PAIR_NS, BAR = 120, 1.0  # ns a pair, per cent of a step: the larger of the two is allowed


def interval(effect):
    return "%+.2f ± %.2f" % tuple(effect)


def inside(found):
    """ns a step that recording adds inside of the recorder, by its own clock: (on, off)."""
    return [sum(kind["ns"] for kind in found[side].values()) for side in ("on", "off")]


def agreement(coin, added):
    """What one clock says of the other's interval; a processor also waits for what was put out of its caches."""
    share = 100 * added / coin["step_ns"]
    low, high = coin["effect"][0] - coin["effect"][1], coin["effect"][0] + coin["effect"][1]
    if low <= share <= high:
        return "agree"
    return "coin %+.2f to %+.2f %% %s" % (low, high, "above" if share < low else "below")


def in_turn(rows, workload):
    """Per cent by which a process with the recorder loaded but off is slower, the least and the most of the turns."""
    turns = [row for row in rows if row["workload"] == workload and row["what"] in ("loaded", "plain")]
    both = [(a["step_ns"], b["step_ns"]) for a, b in zip(turns[::2], turns[1::2])]
    shares = [100 * (loaded / plain - 1) for plain, loaded in both]
    return "%+.1f (%+.1f to %+.1f)" % (statistics.median(shares), min(shares), max(shares)) if shares else "–"


def verdict(coin, pairs):
    allowed = max(BAR, 100 * pairs * PAIR_NS / coin["step_ns"])
    most = coin["effect"][0] + coin["effect"][1]
    least = coin["effect"][0] - coin["effect"][1]
    return "%s %.2f %%" % ("≤" if most <= allowed else "MORE THAN" if least > allowed else "not decided:", allowed)


def main():
    rows = [json.loads(line) for line in open(sys.argv[1])]
    print("| workload | step, ms | steps | recording adds, % (95 %) | control, % | pairs | launches | "
          "by its own clock, ns a step: on, off | that is, % | ns a pair | clocks | loaded but off, in turn, % | bar |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|---|")
    failed = False
    for coin in (row for row in rows if row["what"] == "coin"):
        costs = [row for row in rows if row["what"] == "cost" and row["workload"] == coin["workload"]]
        cells = [coin["title"], "%.3f" % (coin["step_ns"] / 1e6), coin["steps"], interval(coin["effect"]),
                 interval(coin["control"])]
        failed = failed or abs(coin["control"][0]) > coin["control"][1]
        if costs:
            on, off = inside(costs[0])
            kinds = costs[0]["on"]
            pairs = kinds["handed_out"]["times"]
            tensors = kinds["handed_out"]["ns"] + kinds["taken_back"]["ns"]
            cells += ["%.0f" % pairs, "%.0f" % kinds["launches"]["times"], "%.0f, %.0f" % (on, off),
                      "%+.2f" % (100 * (on - off) / coin["step_ns"]), "%.0f" % (tensors / pairs) if pairs else "–",
                      agreement(coin, on - off)]
        else:
            pairs = 0
            cells += ["–"] * 6
        cells += [in_turn(rows, coin["workload"]), verdict(coin, pairs)]
        print("| %s |" % " | ".join(str(c) for c in cells))
    if failed:
        print("\nThe interval of a control does not hold 0: of twenty, one is expected not to.")
    sys.exit(not any(row["what"] == "coin" for row in rows))


main()
