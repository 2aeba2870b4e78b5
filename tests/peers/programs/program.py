# SPDX-License-Identifier: Apache-2.0
"""What the programs here share: NAME.py OUTCOMES [TEST…] runs all its tests, or those whose names begin so, in the
folder that it is started in; NAME.py --missing prints which package is not installed, if any."""

import glob
import hashlib
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tell  # noqa: E402: it is there only now

LIMIT_S = 300  # that one command may take


def is_there(thing):
    return bool(glob.glob(thing)) if "/" in thing else shutil.which(thing) is not None


def run(needs, tests):
    """`needs`: {package: a command or path of it}; tests(wanted) yields (name, outcome)."""
    missing = [package for package, thing in needs.items() if not is_there(thing)]
    if sys.argv[1] == "--missing":
        if missing:
            print("%s is not installed (tools/install-deps.sh long)" % ", ".join(missing))
        return
    out = tell.open_outcomes(sys.argv[1])
    for name, outcome in tests(sys.argv[2:]):
        tell.write(out, {"ended": name, "as": outcome})


def is_wanted(name, wanted):
    return not wanted or any(name.startswith(begin) for begin in wanted)


def outcome_of(argv, compared=None, **more):
    """How a command ended, and of what it printed (`compared`: what of that counts) a digest."""
    more.setdefault("stdin", subprocess.DEVNULL)
    if "input" in more:
        del more["stdin"]
    try:
        done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT_S, check=False, **more)
    except subprocess.TimeoutExpired:
        return "took more than %d s" % LIMIT_S
    text = done.stdout if compared is None else compared(done.stdout.decode("utf-8", "replace")).encode()
    said = text.decode("utf-8", "replace").strip().replace("\n", " | ")
    return "exit %d: %s" % (done.returncode, said if len(said) < 60 else hashlib.sha256(text).hexdigest()[:12])


def lines_of(argv, **more):
    """(name, outcome) of each line NAME<tab>OUTCOME that a command prints, and how it ended."""
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=LIMIT_S, check=False, **more)
    for line in done.stdout.decode("utf-8", "replace").splitlines():
        name, tab, outcome = line.partition("\t")
        if tab:
            yield name, outcome
    yield "exit", str(done.returncode)


def must_be_as_we_are(pid):
    """A server is recorded where its test is: else it would be compared with itself."""
    if tell.is_recorded(pid) != tell.is_recorded():
        sys.exit("process %s is %srecorded, its test is the other" % (pid, "" if tell.is_recorded(pid) else "not "))
