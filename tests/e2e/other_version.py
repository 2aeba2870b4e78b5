#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes of the logs of a recording what another version of Tare would have written. Everything is read from the schema
that stands in each log (docs/RECORDING.md), so this also shows that the schema is enough to read it by."""

import os
import struct

HEADER, CELL, LANE, PAD = 512, 16, 61, 62
SIZES = {"8": 1, "16": 2, "32": 4, "64": 8}
AT_HEADER_BYTES, AT_FIRST_STAMP, AT_TOOL, AT_SCHEMA = 16, 64, 112, 404


def seal(position):
    return (position // CELL * 2654435761 & 0xffffffff) ^ 0x45524154


def sum_of(text):
    """tare_schema_sum() of src/record/schema_text.h."""
    mask, total = (1 << 64) - 1, 0xcbf29ce484222325
    for at in range(0, len(text) // 8 * 8, 8):
        total = (total ^ struct.unpack_from("=Q", text, at)[0]) * 0x9e3779b97f4a7c15 & mask
        total ^= total >> 29
    for byte in text[len(text) // 8 * 8:]:
        total = (total ^ byte) * 0x100000001b3 & mask
    total = (total ^ total >> 32) & 0xffffffff
    return total or 1


class Field:
    def __init__(self, name, size, is_signed, role):
        self.name, self.size, self.is_signed, self.role = name, size, is_signed, role

    def __str__(self):
        return "%s:%s%d:%s" % (self.name, "iu"[not self.is_signed], 8 * self.size, self.role)

    def read(self, data, at):
        return int.from_bytes(data[at:at + self.size], "little", signed=self.is_signed)

    def bytes_of(self, value):
        return value.to_bytes(self.size, "little", signed=self.is_signed)


class Kind:
    def __init__(self, number, name, tail, kind_class, fields):
        self.number, self.name, self.tail, self.kind_class = number, name, tail, kind_class
        self.fields = fields

    @staticmethod
    def of_line(line):
        number, name, tail, kind_class, *fields = line.split(" ")
        parts = [field.split(":") for field in fields]
        return Kind(int(number), name, tail, kind_class,
                    [Field(n, SIZES[t[1:]], t[0] == "i", r) for n, t, r in parts])

    def __str__(self):
        return " ".join([str(self.number), self.name, self.tail, self.kind_class] + [str(f) for f in self.fields])

    def read(self, record):
        """(field → value, tail)"""
        values, at = {}, CELL
        for field in self.fields:
            values[field.name] = field.read(record, at)
            at += field.size
        length = values[self.fields[-1].name] * {"NONE": 0, "TEXT": 1, "PCS": 8}[self.tail] if self.fields else 0
        return values, record[at:at + length]

    def bytes_of(self, stamp, values, tail):
        """Without its seal."""
        body = b"".join(f.bytes_of(values.get(f.name, 0x5a)) for f in self.fields) + tail
        cells = (CELL + len(body) + CELL - 1) // CELL
        return (struct.pack("=IHHQ", 0, self.number, cells, stamp) + body).ljust(cells * CELL, b"\0")


def newer(kind):
    """Another id, fields the other way round and wider, some gone and some new."""
    fields = [f for f in kind.fields if f.role != "RESERVED"]
    last = [fields.pop()] if kind.tail != "NONE" else []
    out = []
    for i, f in enumerate(reversed(fields)):
        size = 2 * f.size if f.size < 8 else 8
        out += [Field(f.name, size, f.is_signed, f.role), Field("new_%d" % i, 2, False, "NEWROLE")]
    return Kind(500 + kind.number, kind.name, kind.tail, "NEWCLASS", out + last)


def newer_calls(kind):
    """As newer(), of a version whose blocks, phases and blocks of the heap lie as in this one."""
    return kind if kind.name in ("tensor", "phase", "heap_block", "heap_freed") else newer(kind)


def records(data, begin, end):
    """(record without the bytes behind it) from begin to end; zeros between them are skipped."""
    while begin + CELL <= end:
        cells = struct.unpack_from("=H", data, begin + 6)[0]
        if cells:
            yield data[begin:begin + cells * CELL]
        begin += max(cells, 1) * CELL


class Translator:
    def __init__(self, text, change):
        self.kinds = {k.number: k for k in map(Kind.of_line, text.decode().split("\n")[1:-1])}
        self.to = {number: change(kind) for number, kind in self.kinds.items()}

    def text(self):
        flux = "900 flux TEXT EVENT a:u32:NUMBER bytes:u32:LENGTH"
        return "\n".join(["tare schema 1"] + [str(k) for k in self.to.values()] + [flux, ""]).encode()

    def record(self, record):
        number, stamp = struct.unpack_from("=IHHQ", record)[1::2]
        return self.to[number].bytes_of(stamp, *self.kinds[number].read(record))


class Copy:
    """The log that comes out."""

    def __init__(self, translator):
        self.translator, self.data, self.lanes, self.count = translator, bytearray(), {}, 0

    def put(self, record):
        self.data += struct.pack("=I", seal(len(self.data))) + record[4:]
        self.count += 1

    def put_block(self, block):
        """A LANE record and what it heads."""
        head, lane, size, _ = struct.unpack_from("=16sIIQ", block)
        inside = [self.translator.record(r) for r in records(block, 32, 32 + size)
                  if struct.unpack_from("=H", r, 4)[0] != PAD]
        at, size = self.lanes.get(lane, 0), sum(map(len, inside))
        self.lanes[lane] = at + size
        self.put(struct.pack("=16sIIQ", head, lane, size, at))
        for record in inside:
            self.put(record)

    def put_all(self, data):
        at = 0
        while at + CELL <= len(data):
            kind, cells = struct.unpack_from("=HH", data, at + 4)
            if not cells:
                at += CELL
                continue
            # What was trimmed is a hole. Positions behind it may grow, but none may come to lie in it.
            self.data += bytes(max(0, at - len(self.data)))
            size = cells * CELL
            if kind == LANE:
                size += struct.unpack_from("=I", data, at + 20)[0]
                self.put_block(data[at:at + size])
            else:
                self.put(self.translator.record(data[at:at + size]))
            at += size


def translate(path, change):
    """Rewrites the log in place, with one record of a kind that nobody knows. Returns how many records it has."""
    with open(path, "rb") as log:
        data = log.read()
    begin, = struct.unpack_from("=I", data, AT_HEADER_BYTES)
    stamp, = struct.unpack_from("=Q", data, AT_FIRST_STAMP)
    copy = Copy(Translator(data[HEADER:begin].split(b"\0")[0], change))
    text = copy.translator.text()
    header = bytearray(data[:HEADER])
    room = (len(text) + CELL) // CELL * CELL
    struct.pack_into("=I", header, AT_HEADER_BYTES, HEADER + room)
    struct.pack_into("=I", header, AT_SCHEMA, sum_of(text))
    header[AT_TOOL:AT_TOOL + 8] = b"9.8.7\0\0\0"
    copy.put(struct.pack("=IHHQII", 0, 900, 2, stamp, 7, 4) + b"flow\0\0\0\0")
    copy.put_all(data[begin:])
    with open(path, "wb") as log:
        log.write(bytes(header) + text.ljust(room, b"\0") + copy.data)
    return copy.count


def translate_all(folder, change=newer):
    return sum(translate(os.path.join(folder, name), change)
               for name in sorted(os.listdir(folder)) if name.endswith(".events"))
