# SPDX-License-Identifier: Apache-2.0
"""Makes tensors of 20 MiB, says so, waits until it has been looked at, and ends as WAY says.

    ends.py WAY    a key of WAYS, or wait: somebody else ends it
"""
import ctypes
import os
import signal
import sys
import time

import torch

WAYS = {
    "return": lambda: None,
    "fault": lambda: ctypes.string_at(0),
    "abort": os.abort,
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "quick": lambda: os._exit(3),
    "raise": lambda: 1 / 0,
    "exec": lambda: os.execv("/bin/sleep", ["sleep", "0.5"]),
    "wait": lambda: time.sleep(60),
}

torch.set_num_threads(1)
KEPT = torch.ones(20, 1024, 256)
print("ready", flush=True)
time.sleep(.35)
WAYS[sys.argv[1]]()
