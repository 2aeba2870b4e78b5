# SPDX-License-Identifier: Apache-2.0
"""The file that outcomes are written to: lines of JSON, the first of which says whether the recorder is loaded."""

import json
import os


def is_recorded(pid="self"):
    with open("/proc/%s/maps" % pid, encoding="utf-8") as text:
        return "libtare_recorder" in text.read()


def open_outcomes(path):
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
    write(file, {"is_recorded": is_recorded()})
    return file


def write(file, record):
    os.write(file, json.dumps(record).encode() + b"\n")
