# SPDX-License-Identifier: Apache-2.0
"""What heap_growth.py imports in "slow-import"."""

import time

TABLES = []
for _ in range(100):
    TABLES.append(bytearray(200_000))
    time.sleep(.02)
