# SPDX-License-Identifier: Apache-2.0
"""`python -m tare`: the program `tare` of the same installation, instead of this process."""

import os
import sys

from tare import installed


def main():
    program = installed.program()
    if program is None:
        sys.exit("tare: %s has no program tare in a folder above it; install Tare's wheel, or call the program itself"
                 % os.path.dirname(os.path.abspath(__file__)))
    os.execv(program, ["tare"] + sys.argv[1:])


if __name__ == "__main__":
    main()
