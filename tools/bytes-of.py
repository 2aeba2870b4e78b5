#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the bytes of a file as the elements of a C array: tools/bytes-of.py FILE > OUT.inc"""

import sys
from pathlib import Path

data = Path(sys.argv[1]).read_bytes()
for i in range(0, len(data), 16):
    print(", ".join(str(b) for b in data[i:i + 16]) + ("," if i + 16 < len(data) else ""))
