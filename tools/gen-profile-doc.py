#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the tables of docs/PROFILE.md from src/profile/profile.def and the profile of the H200.

    tools/gen-profile-doc.py            rewrite what stands between the markers
    tools/gen-profile-doc.py --check    exit 1 if that would change anything
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOC = ROOT / "docs/PROFILE.md"
DEF = ROOT / "src/profile/profile.def"
H200 = ROOT / "simgpu/profiles/h200.profile"
ROW = re.compile(r'TARE_PROFILE\((\w+), \w+, (\w+), (\d+), \w+, "[^"]*", "(.*)"\)$')
GROUP = re.compile(r'TARE_PROFILE_GROUP\("(.*)"\)$')


def values():
    found = {}
    for line in H200.read_text().splitlines():
        if "=" in line and not line.startswith("#"):
            key, value = line.split("=", 1)
            found[key.strip()] = value.strip()
    return found


def size(text):
    number = int(text)
    for unit, shift in (("MiB", 20), ("KiB", 10)):
        if number and number % (1 << shift) == 0:
            return f"{number >> shift} {unit}"
    return text


def generated():
    h200 = values()
    for line in DEF.read_text().splitlines():
        group, row = GROUP.match(line), ROW.match(line)
        if group:
            yield f"\n### {group[1][0].upper()}{group[1][1:]}\n"
            yield "| key | H200 | | meaning |\n|---|---|---|---|"
        elif row:
            key, how, within, meaning = row.groups()
            about = how.lower() + (f", to {size(within)}" if how == "FITTED" else "")
            yield f"| `{key}` | {h200[key]} | {about} | {meaning} |"
    yield "\n"


def main():
    old = DOC.read_text()
    begin, end = "<!-- generated: tools/gen-profile-doc.py -->\n", "<!-- end of generated -->"
    head, rest = old.split(begin)
    tail = rest.split(end)[1]
    new = head + begin + "\n".join(generated()) + end + tail
    if "--check" not in sys.argv[1:]:
        DOC.write_text(new)
        return 0
    if new != old:
        print(f"{DOC} does not say what {DEF} says; run {sys.argv[0]}")
    return new != old


if __name__ == "__main__":
    sys.exit(main())
