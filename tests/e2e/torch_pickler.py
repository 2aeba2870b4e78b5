# SPDX-License-Identifier: Apache-2.0
"""Memory snapshots as PyTorch's C++ writes them: protocol 2, all items of a list at once, and what is shared is remembered
when it is whole, not when it begins."""

import struct


class Pickler:
    def __init__(self):
        self.out, self.names, self.objects, self.kept = [b"\x80\x02"], {}, {}, []

    def remember(self):
        number = len(self.names) + len(self.objects)
        self.out.append(b"q" + bytes([number]) if number < 256 else b"r" + struct.pack("<I", number))
        return number

    def fetch(self, number):
        self.out.append(b"h" + bytes([number]) if number < 256 else b"j" + struct.pack("<I", number))

    def text(self, value):
        if value in self.names:
            self.fetch(self.names[value])
            return
        data = value.encode()
        self.out.append(b"X" + struct.pack("<I", len(data)) + data)
        self.names[value] = self.remember()

    def number(self, n):
        if 0 <= n < 1 << 8:
            self.out.append(b"K" + struct.pack("<B", n))
        elif 0 <= n < 1 << 16:
            self.out.append(b"M" + struct.pack("<H", n))
        elif -(1 << 31) <= n < 1 << 31:
            self.out.append(b"J" + struct.pack("<i", n))
        else:
            self.out.append(b"\x8a\x08" + struct.pack("<Q", n % (1 << 64)))

    def items(self, begin, values, end):
        self.out.append(begin + b"(")
        for value in values:
            self.add(value)
        self.out.append(end)

    def add(self, value):
        if isinstance(value, bool):
            self.out.append(b"\x88" if value else b"\x89")
        elif isinstance(value, int):
            self.number(value)
        elif isinstance(value, float):
            self.out.append(b"G" + struct.pack(">d", value))
        elif isinstance(value, str):
            self.text(value)
        elif isinstance(value, tuple):
            for part in value:
                self.add(part)
            self.out.append(b"\x86")
        elif id(value) in self.objects:
            self.fetch(self.objects[id(value)])
        else:
            if isinstance(value, dict):
                self.items(b"}", [part for pair in value.items() for part in pair], b"u")
            else:
                self.items(b"]", value, b"e")
            self.kept.append(value)
            self.objects[id(value)] = self.remember()


def dumps(value):
    pickler = Pickler()
    pickler.add(value)
    return b"".join(pickler.out) + b"."
