#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A table of a card's answers for simulated cuDNN, out of what tests/gpu/conv_answers.c wrote.

    tools/conv-table.py --card "NVIDIA H100 80GB HBM3" --cudnn 91900 --capability 90 --processors 132 \\
        -o simgpu/tables/h100-cudnn-9.19.conv ANSWERS…
    tools/conv-table.py --show simgpu/tables/h100-cudnn-9.19.conv

Lines are "KEY = BYTES …"; of several sizes the first is taken, comments and keys without an answer are left out. A file whose name
ends in .conv is a table that is taken in whole: of the same card, so that what was recorded in parts is one. The form of the file stands in simgpu/libs/conv_table.h; how a key is written so that equal convolutions have equal keys, in
simgpu/libs/conv.h."""

import argparse
import sys

MAGIC = b"TARECONV"


def normal(key):
    """The key with the strides that PyTorch gives to dimensions of size 1."""
    direction, *rest = key.split(" ")
    tensors = []
    for text in rest[:3]:
        dtype, _, sizes = text.partition(":")
        dims, steps = ([int(number) for number in numbers.split(",")] for numbers in sizes.split("/"))
        tensors.append((dtype, dims, steps))
    last = False
    for _, dims, steps in (tensors[1], tensors[2], tensors[0]):
        pixels = 1
        for size in dims[2:]:
            pixels *= size
        if dims[1] != 1 and pixels != 1:
            last = steps[1] == 1
            break
    words = [direction]
    for dtype, dims, steps in tensors:
        inner = list(range(len(dims) - 1, 1, -1))
        inside = 1
        for dim in ([1] + inner if last else inner + [1]) + [0]:
            if dims[dim] == 1:
                steps[dim] = inside
            inside *= dims[dim]
        words.append(f"{dtype}:{','.join(map(str, dims))}/{','.join(map(str, steps))}")
    return " ".join(words + rest[3:])


def hash_of(key):
    value = 0xcbf29ce484222325
    for byte in key.encode():
        value = (value ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return value >> 24


def number(value):
    made = bytearray()
    while value >= 0x80:
        made.append(value & 0x7f | 0x80)
        value >>= 7
    made.append(value)
    return bytes(made)


def read_answers(files):
    """hash → bytes; ends the program where two keys of one hash differ."""
    rows, keys = {}, {}
    for name in files:
        if name.endswith(".conv"):
            take_table(name, rows, keys)
            continue
        with open(name, encoding="utf-8") as file:
            for line in file:
                key, _, sizes = line.partition(" = ")
                sizes = sizes.partition("#")[0].split()
                if line.startswith("#") or not sizes:
                    continue
                key = normal(key)
                which, size = hash_of(key), int(sizes[0])
                if rows.setdefault(which, size) != size:
                    sys.exit(f"conv-table: {key}: {size} here, but {rows[which]} for {keys[which]}; remove one of the lines")
                keys[which] = key
    return rows


def take_table(name, rows, keys):
    """Adds the rows of a table, whose keys are hashes only."""
    for which, size in read_table(name).items():
        if rows.setdefault(which, size) != size:
            sys.exit(f"conv-table: {name}: {size} for the convolution of hash {which}, but {rows[which]} for {keys[which]}")
        keys.setdefault(which, f"{name}, hash {which}")


def pack(args, rows):
    sizes = sorted(set(rows.values()))
    place = {size: at for at, size in enumerate(sizes)}
    card = args.card.encode()
    made = [MAGIC, number(1), number(args.cudnn), number(args.capability), number(args.processors), number(len(card)), card,
            number(len(sizes))]
    made += [number(size - before) for before, size in zip([0] + sizes, sizes)]
    made.append(number(len(rows)))
    before = 0
    for which in sorted(rows):
        made += [number(which - before), number(place[rows[which]])]
        before = which
    return b"".join(made)


def unpack(name):
    """The head of a table (its card, version of cuDNN, capability, multiprocessors, sizes, bytes), and hash → bytes."""
    with open(name, "rb") as file:
        data = file.read()
    if not data.startswith(MAGIC):
        sys.exit(f"conv-table: {name}: is no table of convolutions; tools/conv-table.py -o makes one")
    at = len(MAGIC)

    def take():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    _, cudnn, capability, processors, length = (take() for _ in range(5))
    card = data[at:at + length].decode()
    at += length
    sizes, size = [], 0
    for _ in range(take()):
        size += take()
        sizes.append(size)
    rows, which = {}, 0
    for _ in range(take()):
        which += take()
        rows[which] = sizes[take()]
    return (card, cudnn, capability, processors, len(sizes), len(data)), rows


def read_table(name):
    """hash → bytes of a table, as read_answers has it of answers."""
    return unpack(name)[1]


def show(name):
    (card, cudnn, capability, processors, sizes, size), rows = unpack(name)
    print(f"{card}, cuDNN {cudnn}, compute capability {capability}, {processors} multiprocessors: {len(rows)} convolutions, "
          f"{sizes} sizes, {size} bytes")


def main():
    parser = argparse.ArgumentParser(description="Makes a table of a card's answers for simulated cuDNN.")
    parser.add_argument("--show", metavar="TABLE")
    parser.add_argument("--card")
    parser.add_argument("--cudnn", type=int, help="91900 for 9.19.0")
    parser.add_argument("--capability", type=int, help="90 for 9.0")
    parser.add_argument("--processors", type=int, help="multiprocessors")
    parser.add_argument("-o", dest="output")
    parser.add_argument("answers", nargs="*")
    args = parser.parse_args()
    if args.show:
        show(args.show)
        return
    if not (args.card and args.cudnn and args.capability and args.processors and args.output and args.answers):
        parser.error("a table needs --card, --cudnn, --capability, --processors, -o and files of answers")
    with open(args.output, "wb") as file:
        file.write(pack(args, read_answers(args.answers)))


if __name__ == "__main__":
    main()
