# SPDX-License-Identifier: Apache-2.0
"""Sweeps whose truth is known, for fit_beyond.py: families of programs that do not exist, and what each of their cells takes.

A family is a function of a generator of random numbers that returns (values of each parameter, phases): `phases(cell)` lists the bytes
that each phase of the program takes in a cell, and the greatest counts. The first half of the families may be looked at when intervals are
designed; the other half, HELD_OUT, may not: they only say whether the design holds.
"""

import itertools
import math

MIB = 1 << 20
POWERS = {"batch": [1, 2, 4, 8, 16], "width": [128, 256, 512, 1024], "seq": [64, 128, 256, 512], "layers": [2, 4, 8, 16],
          "size": [64, 96, 128, 192, 256], "grid": [16, 32, 48, 64, 96], "workers": [1, 2, 4, 8], "length": [6, 8, 10, 12, 16],
          "steps": [50, 100, 200, 400], "context": [256, 512, 1024, 2048], "experts": [2, 4, 8, 16], "fields": [1, 2, 3, 4, 6]}


def values(rng, names, fewest=3):
    """Three or four neighbouring values of each parameter; of one in eight two, where that may be."""
    chosen = {}
    for name in names:
        count = 2 if fewest == 2 and rng.random() < 0.125 else rng.choice((3, 3, 4))
        first = rng.randrange(min(2, len(POWERS[name]) - count + 1))
        chosen[name] = POWERS[name][first:first + count]
    return chosen


def training(rng):
    """Weights and optimizer, activations, logits: the first family, as it always was."""
    names = rng.choice((["batch", "width"], ["batch", "width", "seq"]))
    context, weights = rng.uniform(100, 600) * MIB, rng.choice((8, 12, 16)) * rng.uniform(4, 14)
    kept, other, scores = rng.uniform(8, 60), rng.uniform(0, 80), rng.choice((0, 0, 4))

    def phases(cell):
        b, h, s = cell["batch"], cell["width"], cell.get("seq", 64)
        base = context + weights * h * h * 8
        return base + kept * b * s * h + scores * b * s * s * 8, base + other * b * s * 512

    return values(rng, names), phases


def convolutions(rng):
    """Activations by the area of an image, a workspace of the library that is capped, weights by the square of the width."""
    names = rng.choice((["batch", "size"], ["batch", "size", "width"], ["size", "width"]))
    context, kept, weights = rng.uniform(300, 700) * MIB, rng.uniform(2, 20), rng.uniform(60, 400)
    workspace, cap = rng.uniform(1, 30), rng.choice((8, 64, 256)) * MIB

    def phases(cell):
        b, n, w = cell.get("batch", 4), cell["size"], cell.get("width", 128)
        base = context + weights * w * w
        return (base + kept * b * n * n * w / 4 + min(workspace * b * n * n * 16, cap),)

    return values(rng, names, 2), phases


def solver(rng):
    """Fields on a grid of three dimensions, a halo, a transform of one field at a time."""
    names = rng.choice((["grid", "fields"], ["grid", "fields", "batch"], ["grid", "batch"]))
    context, halo, work = rng.uniform(50, 400) * MIB, rng.uniform(0, 40), rng.uniform(0, 6)

    def phases(cell):
        n, f, b = cell["grid"], cell.get("fields", 3), cell.get("batch", 2)
        fields = context + 16 * f * b * n ** 3 + halo * n * n * f * 16
        return fields + work * 16 * n ** 3, fields + 12 * b * n ** 3 * (work > 3)

    return values(rng, names, 2), phases


def graphs(rng):
    """Captured graphs: a pool by batch and volume, executables by steps."""
    names = rng.choice((["batch", "length", "steps"], ["batch", "steps"], ["length", "steps"]))
    context, pool = rng.uniform(400, 900) * MIB, rng.uniform(0.5, 8) * 1024
    each, step = rng.uniform(20, 400) * MIB, rng.uniform(0.05, 0.8) * MIB

    def phases(cell):
        b, n, t = cell.get("batch", 2), cell.get("length", 8), cell["steps"]
        return (context + each * b + pool * b * n ** 3 + step * t,)

    return values(rng, names, 2), phases


def loaders(rng):
    """Processes that load data: each has its own base, and batches ahead of time."""
    names = rng.choice((["workers", "batch"], ["workers", "batch", "size"]))
    base, own, ahead = rng.uniform(200, 900) * MIB, rng.uniform(40, 300) * MIB, rng.choice((2, 4))

    def phases(cell):
        w, b, n = cell["workers"], cell["batch"], cell.get("size", 128)
        return (base + own * w + ahead * w * b * n * n * 12, base + own * w + 4 * b * n * n * 12 * 8)

    return values(rng, names), phases


def transformer(rng):
    """Layers, attention with or without its scores, logits, an optimizer's step with temporaries."""
    names = ["batch"] + rng.sample(["width", "layers", "seq"], rng.choice((1, 2, 2)))
    context, state = rng.uniform(400, 900) * MIB, rng.choice((8, 12, 16, 18))
    kept, words, flash = rng.uniform(14, 36), rng.choice((8192, 32000, 50304)), rng.random() < 0.6

    def phases(cell):
        b, d, n, s = cell["batch"], cell.get("width", 256), cell.get("layers", 4), cell.get("seq", 128)
        weights = (12 * n * d * d + words * d + s * d)
        acts = n * b * s * (kept * d + (0 if flash else 5 * 8 * s))
        return (context + state * weights + acts + 8 * b * s * words, context + state * weights + 4 * weights * (state > 12))

    return values(rng, names, 2), phases


def serving(rng):
    """A cache of keys and values, logits, and the prompt in pieces of limited length."""
    names = rng.choice((["batch", "context"], ["batch", "context", "layers"], ["context", "layers"]))
    context, width, piece = rng.uniform(400, 900) * MIB, rng.choice((512, 1024, 2048)), rng.choice((512, 2048, 8192))

    def phases(cell):
        b, s, n = cell.get("batch", 4), cell["context"], cell.get("layers", 8)
        weights = context + 24 * n * width * width + 64000 * width
        cache = 4 * n * b * s * width
        return weights + cache + b * 32000 * 6, weights + cache + min(s, piece) * width * 40

    return values(rng, names, 2), phases


def reserving(rng):
    """What a caching allocator keeps of a training: up to a twelfth more, of which nobody can tell how much (see `made_up`)."""
    chosen, phases = training(rng)
    share, salt = rng.uniform(0.01, 0.12), rng.random()

    def reserved(cell):
        at = math.sin(sum((i + 1) * 12.9898 * v for i, v in enumerate(cell.values())) + salt * 78.233) * 43758.5453
        return [p * (1 + share * (at % 1)) for p in phases(cell)]

    return chosen, reserved


def checkpoints(rng):
    """Checkpointed layers: what is kept between layers, one layer anew, logits, and the step of the optimizer."""
    names = ["layers", "batch"] + ([] if rng.random() < 0.5 else ["seq"])
    context, width = rng.uniform(400, 900) * MIB, rng.choice((512, 768, 1024))
    kept, words = rng.uniform(16, 40), rng.choice((8192, 32000))

    def phases(cell):
        n, b, s = cell["layers"], cell["batch"], cell.get("seq", 256)
        base = context + 16 * (12 * n * width * width + words * width)
        held = 4 * n * b * s * width
        return base + held + kept * b * s * width, base + held + 8 * b * s * words, base + 48 * width * width * n

    return values(rng, names), phases


def experts(rng):
    """A mixture of experts: weights by their number, tokens to the fullest of them."""
    names = rng.choice((["experts", "batch"], ["experts", "batch", "width"]))
    context, state, crowd = rng.uniform(400, 900) * MIB, rng.choice((8, 12, 16)), rng.uniform(1, 2)

    def phases(cell):
        e, b, d = cell["experts"], cell["batch"], cell.get("width", 512)
        return (context + state * 8 * e * d * d + 20 * b * 256 * d + crowd * 24 * b * 256 * d * min(e, 8) / 4,)

    return values(rng, names, 2), phases


LOOKED_AT = (training, convolutions, solver, graphs, loaders)
HELD_OUT = (transformer, serving, reserving, checkpoints, experts)


def cells_of(chosen):
    return [dict(zip(chosen, row)) for row in itertools.product(*chosen.values())]


def seen_cells(rng, chosen):
    """A whole grid; in one sweep of five of more than two parameters, only cells that differ from the first or the last in one parameter or two."""
    every = cells_of(chosen)
    if len(chosen) < 3 or rng.random() < 0.8:
        return every
    least, most = every[0], every[-1]
    return [c for c in every if sum(c[p] != least[p] for p in chosen) <= 2 or sum(c[p] != most[p] for p in chosen) <= 1]


def beyond(chosen):
    """(what is beyond what was measured, cell)."""
    middle = {name: values[len(values) // 2] for name, values in chosen.items()}
    for times in (2, 4):
        for name, values in chosen.items():
            yield "one, %d ×" % times, dict(middle, **{name: values[-1] * times})
        for one, other in itertools.combinations(chosen, 2):
            yield "two, %d ×" % times, dict(middle, **{one: chosen[one][-1] * times, other: chosen[other][-1] * times})
    for name, values in chosen.items():
        yield "less", dict(middle, **{name: values[0] / 2})
    for one, other in itertools.permutations(chosen, 2):
        yield "one more, one less", dict(middle, **{one: chosen[one][-1] * 2, other: chosen[other][0] / 2})


def made_up(rng, family):
    """(values, measure(cell) -> bytes, greatest(cell) -> number of the phase): rounding as an allocator does, and noise of the machine."""
    chosen, phases = family(rng)
    step, noise = rng.choice((512, 2 * MIB)), rng.choice((0, 0.001, 0.01))

    def measure(cell):
        need = max(phases(cell)) * (1 + rng.uniform(-noise, noise))
        return -(-int(need) // step) * step

    def greatest(cell):
        each = phases(cell)
        return each.index(max(each))

    return chosen, measure, greatest
