#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is a replay of a trace that was made up for a cell nearer to the truth than the law of tare fit? docs/measurements/fit-replay.md.

    python3 tests/bench/fit_replay.py FOLDER --tare build/tare      FOLDER: what tests/gpu/programs/gpt_trace.py wrote

Cells are hidden as by fit_holdout.py. A hidden cell's trace is made of the traces of the others, and tare whatif replays it:

- Sizes. Each request of the same sequence (a structure) has a size c × d_model^i × seq^j × batch^k that all cells fulfil
  to the byte. Where several do, the one that most other requests have is taken. Requests of other structures help
  where a comparison of the sequences finds the same request in both.
- Length. More layers repeat parts of the sequence. The two greatest numbers of layers are compared; what one has more
  is repeated further. A free is found again by its place among the live blocks of its size, from the newest or the oldest.
"""

import argparse
import collections
import difflib
import functools
import json
import os
import pickle
import subprocess
import tempfile
from fractions import Fraction

import fit_holdout

PARAMS = ("d_model", "layers", "seq", "batch")
ADDRESS = 1 << 40
ROUNDED = 1 << 20  # a block may be that much larger than what was asked for


def read(folder):
    """{cell: trace}, {cell: (peak_allocated, peak_reserved) as PyTorch said them}"""
    traces, said = {}, {}
    for name in os.listdir(folder):
        if name.endswith(".part"):
            continue
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            lines = file.read().split("\n")
        cell = tuple(map(int, name.split(",")))
        if lines[0].startswith("#"):
            said[cell] = tuple(map(int, lines.pop(0).split()[1:]))
        traces[cell] = list(map(int, filter(None, lines)))
    return traces, said


def replay(tare, trace):
    """(peak_allocated, peak_reserved)"""
    events, requests, address = [], [], ADDRESS
    for x in trace:
        if x >= 0:
            requests.append((address, x))
            events.append({"action": "alloc", "addr": address, "size": x, "stream": 0, "frames": []})
            address += (x // 512 + 2) * 512
            continue
        where, size = requests[-1 - x]
        events += [{"action": action, "addr": where, "size": size, "stream": 0, "frames": []}
                   for action in ("free_requested", "free_completed")]
    with tempfile.NamedTemporaryFile(suffix=".pickle") as file:
        pickle.dump({"segments": [], "device_traces": [events],
                     "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": ""}}, file, protocol=2)
        file.flush()
        done = subprocess.run([tare, "whatif", file.name, "--json"], capture_output=True, text=True, check=True)
    case = json.loads(done.stdout)["cases"][0]
    return case["peak_allocated_bytes"], case["peak_reserved_bytes"]


def requests(trace):
    return [x for x in trace if x >= 0]


def numbered(trace):
    """(number of the next request, event) of each event"""
    count = 0
    for x in trace:
        yield count, x
        count += x >= 0


def one(members):
    return next(iter(members.values()))


def work(law, cell):
    i, j, k = law
    return cell[0] ** i * cell[2] ** j * cell[3] ** k


@functools.lru_cache(None)
def laws_of(points):
    """All ((i, j, k), c) that the points ((cell, size), …) fulfil."""
    cell, size = points[0]
    found = []
    for law in ((i, j, k) for i in range(3) for j in range(3) for k in range(2)):
        c = Fraction(size, work(law, cell))
        if all(c * work(law, other) == bytes_ for other, bytes_ in points[1:]):
            found.append((law, c))
    return found


class Sizes:
    """The laws of the sizes of all requests of the seen cells."""

    def __init__(self, traces):
        structures = collections.defaultdict(dict)
        for cell, trace in traces.items():
            structures[cell[1], tuple(-1 if x >= 0 else x - 1 for x in trace)][cell] = trace
        self.structures = list(structures.values())
        self.count = collections.Counter()
        self.exact, self.shape = collections.Counter(), collections.Counter()
        own = [self.points(members) for members in self.structures]
        self.vote(own)
        self.tokens = [self.shapes(members, points) for members, points in zip(self.structures, own)]
        self.all = [self.shared(a, points) for a, points in enumerate(own)]
        self.vote(self.all)

    @staticmethod
    def points(members):
        return [tuple(zip([(c[0], 0, c[2], c[3]) for c in members], sizes))
                for sizes in zip(*(requests(trace) for trace in members.values()))]

    def vote(self, of_structures):
        Sizes.below.cache_clear()
        self.exact.clear()
        self.shape.clear()
        for points in of_structures:
            for p in points:
                found = laws_of(p)
                if len(found) == 1:
                    self.exact[found[0]] += 1
                    self.shape[found[0][0]] += 1

    def law(self, points):
        """The likeliest law; None: none fits. A block may be larger than what was asked for: then a known law below it."""
        found = laws_of(points)
        if not found:
            return self.below(points)
        return max(found, key=lambda f: (self.exact[f], self.shape[f[0]], -sum(f[0])))

    @functools.lru_cache(None)
    def below(self, points):
        fits = []
        for law, c in self.exact:
            excess = [size - c * work(law, cell) for cell, size in points]
            if min(excess) >= 0 and max(excess) < ROUNDED:
                fits.append((sum(excess), law, c))
        return min(fits)[1:] if fits else None

    def shapes(self, members, points):
        """Events without what depends on the batch, for a comparison of structures."""
        of = [(found[0][:2] if found else None) for found in map(self.law, points)]
        return [("request", of[n]) if x >= 0 else ("free", of[-1 - x]) for n, x in numbered(one(members))]

    def shared(self, a, points):
        """The points of a structure with those of the same requests in other structures of as many layers."""
        more = [list(p) for p in points]
        layers = next(iter(self.structures[a]))[1]
        for b, members in enumerate(self.structures):
            if b == a or next(iter(members))[1] != layers:
                continue
            numbers = [[n if x >= 0 else None for n, x in numbered(one(self.structures[s]))] for s in (a, b)]
            other = self.points(members)
            for i, j, length in difflib.SequenceMatcher(None, self.tokens[a], self.tokens[b],
                                                        autojunk=False).get_matching_blocks():
                for n, m in zip(numbers[0][i:i + length], numbers[1][j:j + length]):
                    if n is not None:
                        more[n] += other[m]
        return [tuple(m) if laws_of(tuple(m)) or self.below(tuple(m)) else p for m, p in zip(more, points)]

    def make(self, cell):
        """The trace of a cell whose number of layers was seen."""
        alike = [(abs(seen[3] - cell[3]), seen[0] != cell[0], seen[2] != cell[2], s)
                 for s, members in enumerate(self.structures) for seen in members if seen[1] == cell[1]]
        s = min(alike)[-1]
        sizes = []
        for points in self.all[s]:
            law = self.law(points)
            self.count["laws" if law else "without a law"] += 1
            sizes.append(int(law[1] * work(law[0], cell)) if law else max(size for _, size in points))
        return [sizes[n] if x >= 0 else x for n, x in numbered(one(self.structures[s]))]


def places(trace):
    """Of each free, the block's place among the live ones of its size: (from the newest, from the oldest)."""
    live, sizes = collections.defaultdict(list), requests(trace)
    for n, x in numbered(trace):
        if x >= 0:
            live[x].append(n)
            yield None
        else:
            alike = live[sizes[-1 - x]]
            place = alike.index(-1 - x)
            yield len(alike) - 1 - place, place
            alike.pop(place)


def place_at(samples, at):
    """(from the newest?, place) at `at`, of [(at, (from the newest, from the oldest))]."""
    for side in (0, 1):
        if len({both[side] for _, both in samples}) == 1:
            return side, samples[0][1][side]
    (at0, (place0, _)), (at1, (place1, _)) = samples[0], samples[-1]
    return 0, max(0, round(place0 + (place1 - place0) * (at - at0) / (at1 - at0)))


def lengthen(low, high, layers, more):
    """`high` has `layers` layers more than `low`: the trace that has `more` more than `low`."""
    sizes = [requests(trace) for trace in (low, high)]
    a, b = ([("request", x) if x >= 0 else ("free", s[-1 - x]) for x in trace] for trace, s in zip((low, high), sizes))
    in_a, in_b = list(places(low)), list(places(high))
    events = []  # (event, place)
    for what, i, i_end, j, j_end in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        part = (j_end - j) // layers
        if what == "equal":
            for n in range(i_end - i):
                events.append((b[j + n], in_b[j + n] and place_at([(0, in_a[i + n]), (layers, in_b[j + n])], more)))
        elif what == "insert" and part * layers == j_end - j:
            for copy in range(more):
                for n in range(part):
                    at = j + n + part * min(copy, layers - 1)
                    samples = [(c, in_b[j + n + part * c]) for c in range(layers) if in_b[j + n + part * c]]
                    events.append((b[at], in_b[at] and place_at(samples, copy)))
        else:
            events += [(b[n], in_b[n] and (0, in_b[n][0])) for n in range(j, j_end)]
    return link(events)


def link(events):
    live, trace, count = collections.defaultdict(list), [], 0
    for (what, size), place in events:
        alike = live[size]
        if what == "request":
            alike.append(count)
            trace.append(size)
            count += 1
        elif alike:
            n = min(place[1], len(alike) - 1)
            trace.append(-1 - alike.pop(n if place[0] else len(alike) - 1 - n))
    return trace


def make(sizes, seen, cell):
    layers = sorted({c[1] for c in seen})
    if cell[1] in layers:
        return sizes.make(cell)
    if len(layers) < 2:
        return None
    low, high = (sizes.make((cell[0], n) + cell[2:]) for n in layers[-2:])
    return lengthen(low, high, layers[-1] - layers[-2], cell[1] - layers[-2])


def line(form, how, got):
    median, p90, worst, _ = fit_holdout.summary([(y, p, y, y) for y, p in got])
    return form % (how, len(got), "%.2f %%" % median, "%.2f %%" % p90, "%.2f %%" % worst)


def main():
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("folder")
    ask.add_argument("--tare", default=os.path.join(fit_holdout.ROOT, "build", "tare"))
    args = ask.parse_args()
    traces, said = read(args.folder)
    truth = {cell: replay(args.tare, trace) for cell, trace in traces.items()}
    print("%d cells, %d to %d events" % (len(traces), min(map(len, traces.values())), max(map(len, traces.values()))))
    if said:
        print("of %d peaks reserved, as PyTorch said them, the replay has %d" % (
            len(said), sum(truth[cell][1] == both[1] for cell, both in said.items())))
        truth.update(said)
    targets = ("peak_allocated", "peak_reserved")
    rows = [dict(zip(PARAMS + targets, cell + truth[cell])) for cell in sorted(traces)]
    for k, target in enumerate(targets):
        for what, beyond, is_hidden in fit_holdout.cuts(rows, ",".join(PARAMS), target):
            print("%s, hidden %s, %.1f times beyond" % (target, what, beyond), flush=True)
            with tempfile.TemporaryDirectory() as folder:
                law = fit_holdout.predict(args.tare, folder, rows, is_hidden, target, ",".join(PARAMS))
            hidden = [tuple(row[p] for p in PARAMS) for row, h in zip(rows, is_hidden) if h]
            seen = {cell: trace for cell, trace in traces.items() if cell not in hidden}
            sizes = Sizes(seen)
            made = {cell: make(sizes, seen, cell) for cell in hidden}
            same = sum(trace == traces[cell] for cell, trace in made.items())
            form = "  %-8s %4d cells   median %8s   90 %% %8s   worst %8s"
            print(line(form, "law", [(y, p) for y, p, _, _ in law]))
            print(line(form, "replay", [(truth[c][k], replay(args.tare, t)[k]) for c, t in made.items() if t]))
            print("  traces to the byte: %d; requests: %s" % (same, dict(sizes.count)), flush=True)


if __name__ == "__main__":
    main()
