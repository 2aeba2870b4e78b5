#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Memory of the host of every kind, a part of which stays: python_objects.py [STEPS]

Each step fills arrays of 8 MiB and drops them, makes 20,000 dictionaries with a string and a list each, of which 4,000 stay, and
multiplies two matrices. With PYTHONMALLOC=malloc every object of Python is a block of malloc: some 200,000 pairs of malloc and
free a step. docs/measurements/no-room.md has what recording that costs.
"""

import sys

import numpy


def fill(count):
    arrays = [numpy.full(1 << 20, number, dtype=numpy.float64) for number in range(count)]
    return sum(float(array[:1000].sum()) for array in arrays)


def rows_of(step):
    return [{"id": number, "name": "row-%d-%d" % (step, number), "values": [number, number + 0.5]} for number in range(20000)]


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 45
    kept = []
    for step in range(steps):
        fill(4 + step % 10 * 2)
        kept.append(rows_of(step)[:4000])
        square = numpy.random.default_rng(step).random((600, 600))
        numpy.trace(square @ square.T)
    print("steps %d, rows kept %d" % (steps, sum(map(len, kept))))


main()
