# SPDX-License-Identifier: Apache-2.0
"""Where the rest of Tare is: in a folder above this module, however both were installed."""

import glob
import os

# Above site-packages are lib/pythonX.Y, lib and the prefix; above lib/tare/python is the same; above python, a source tree.
_LEVELS = 5


def find(*names):
    """The first path FOLDER/NAME that exists, from the module's own folder upwards; None: none does. `*` may be in NAME."""
    folder = os.path.dirname(os.path.abspath(__file__))
    for _ in range(_LEVELS):
        for name in names:
            paths = glob.glob(os.path.join(glob.escape(folder), name))
            if paths:
                return paths[0]
        folder = os.path.dirname(folder)
    return None


def program():
    """The path of the program `tare`, or None."""
    return find("bin/tare", "build/tare")
