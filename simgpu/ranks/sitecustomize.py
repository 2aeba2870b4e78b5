# SPDX-License-Identifier: Apache-2.0
"""Python runs this when it starts, where `tare run --ranks-simulated` has put its folder on PYTHONPATH.

The module of that name that Python would have run otherwise is run after it, and this folder is not on sys.path then.
"""

import importlib.util
import os
import sys

_FOLDER = os.path.dirname(os.path.abspath(__file__))


def _begin():
    path = os.path.join(_FOLDER, "tare_simulated_ranks.py")
    spec = importlib.util.spec_from_file_location("tare_simulated_ranks", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.begin(os.environ)


def _run_other():
    """That of the user or of the system, if there is one: it takes the place of this one."""
    this = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # noqa: F401
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
    finally:
        if this is not None:
            sys.modules.setdefault("sitecustomize", this)


sys.path[:] = [_entry for _entry in sys.path if os.path.abspath(_entry) != _FOLDER]
_begin()
_run_other()
