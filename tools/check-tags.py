#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No two structs, unions or enums in headers have one tag. (Tags within a .c file are its own.)

    tools/check-tags.py"""

import re
import subprocess
import sys

TAG = re.compile(r"^\s*(?:typedef\s+)?(?:struct|union|enum)\s+(\w+)\s*\{", re.M)



def main():
    names = subprocess.run(["git", "ls-files", "src/*.h", "simgpu/*.h", "include/*.h"], capture_output=True, text=True,
                           check=True).stdout.split()
    found, wrong = {}, 0
    for name in names:
        try:
            with open(name, encoding="utf-8") as file:
                text = file.read()
        except FileNotFoundError:  # removed, not yet committed
            continue
        for tag in TAG.findall(text):
            first = found.setdefault(tag, name)
            if first != name:
                print("%s: %s is the tag of another type in %s" % (name, tag, first))
                wrong += 1
    if len(found) < 100:
        print("only %d tags found" % len(found))
    return wrong > 0 or len(found) < 100


sys.exit(main())
