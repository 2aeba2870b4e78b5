# SPDX-License-Identifier: Apache-2.0
"""Small programs that one file has, each by its name, and what of each should be told: FILE.py NAME, FILE.py --list"""

import sys

programs = {}


def program(grows):
    """`grows`: what of it grows, as the test of the file reads it; None: nothing does."""
    def add(run):
        programs[run.__name__.replace("_", "-")] = (run, grows)
        return run
    return add


def is_list_wanted():
    return sys.argv[1] == "--list"


def main():
    if is_list_wanted():
        for name, (_, grows) in programs.items():
            print(name, grows or "-", sep="\t")
    else:
        programs[sys.argv[1]][0]()
