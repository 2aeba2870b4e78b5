#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names the unit tests that ThreadSanitizer can say something of: threaded-tests.py BUILD_DIR [TEST…]

BUILD_DIR has the tests built without a sanitizer. Named is each whose program, or a library of the build that it loads,
takes from libc what makes a thread or handles a signal; the others are of one thread, and there is no race in them. A
program that cannot be read, or is not built yet, is named. With TESTs only these are looked at.
"""

import json
import os
import re
import subprocess
import sys

MAKES = re.compile(r" U (pthread_create|thrd_create|timer_create|mq_notify|aio_\w+|lio_listio|getaddrinfo_a|"
                   r"sigaction|signal|sigset|ssignal)(64)?(@\S*)?$", re.M)


def imports(path):
    done = subprocess.run(["nm", "-D", "--undefined-only", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=False)
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None


def libraries(path, build):
    """Those of the build that the program is linked with, and theirs."""
    said = subprocess.run(["ldd", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
    found = re.findall(r"=> (/\S+)", said.decode("utf-8", "replace"))
    return [file for file in found if os.path.realpath(file).startswith(build + os.sep)]


def may_race(path, build):
    said = [imports(file) for file in [path] + libraries(path, build)]
    return any(text is None or MAKES.search(text) for text in said)


def main():
    build = os.path.realpath(sys.argv[1])
    listed = subprocess.run(["meson", "introspect", "--tests", build], stdout=subprocess.PIPE, check=True).stdout
    for test in json.loads(listed):
        program = os.path.realpath(test["cmd"][0])
        if sys.argv[2:] and test["name"] not in sys.argv[2:]:
            continue
        if "tare:unit" in test["suite"] and program.startswith(build + os.sep) and may_race(program, build):
            print(test["name"])


if __name__ == "__main__":
    main()
