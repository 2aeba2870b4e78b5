#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a command as every test is run, whoever starts it and however: clean.py COMMAND [ARGUMENT…]

No signal is ignored or blocked, the umask is 022, stdin is empty, no file is open but the standard ones, and of
the environment there is only what chooses tools and folders, and what the caller has set for this command (Meson:
a test's own). What was left otherwise (nohup, a service, cron,
a shell's own settings) would change verdicts. Meson leaves the terminal before it comes here.

With TARE_TEST_TIMES=FILE each command adds a line there: the seconds of processor and of clock that it took.
"""

import os
import pwd
import signal
import sys
import time

KEPT = ("PATH", "HOME", "TMPDIR", "USER", "LOGNAME", "LD_LIBRARY_PATH", "QEMU_LD_PREFIX", "CC", "CXX", "CFLAGS",
        "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "PKG_CONFIG_PATH", "TARE_SOURCE_ROOT", "TARE_SIM_PROFILE",
        "TARE_UPDATE_GOLDEN", "TARE_FUZZ_LEDGER", "TARE_CI", "TARE_REAL_DATA")
KEPT_BEGINNINGS = ("TARE_TEST_", "TARE_E2E_", "TARE_DIST_", "CCACHE_", "PYENV_", "ASAN_", "UBSAN_", "TSAN_", "MSAN_",
                   "LSAN_")
ALWAYS = {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TERM": "dumb", "PYTHONDONTWRITEBYTECODE": "1"}
DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def home():
    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:  # a number without a name, as in a container
        return "/"


def of_caller():
    """The environment that the caller was started with: what is otherwise here, it has set for the command."""
    try:
        with open("/proc/%d/environ" % os.getppid(), "rb") as text:
            return dict(entry.split("=", 1) for entry in os.fsdecode(text.read()).split("\0") if "=" in entry)
    except OSError:
        return dict(os.environ)


def environment():
    inherited = of_caller()
    kept = {name: value for name, value in os.environ.items()
            if name in KEPT or name.startswith(KEPT_BEGINNINGS) or inherited.get(name) != value}
    kept.setdefault("PATH", DEFAULT_PATH)
    kept.setdefault("HOME", home())
    kept.update(ALWAYS)
    return kept


def reset_signals():
    for number in signal.valid_signals():
        try:
            signal.signal(number, signal.SIG_DFL)
        except (OSError, ValueError):  # KILL and STOP, and what libc keeps for itself
            pass
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def is_open(number):
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def reset_files():
    nothing = os.open(os.devnull, os.O_RDWR)  # may be one of the three
    for number in (0, 1, 2):
        if number == 0 or not is_open(number):
            os.dup2(nothing, number)
        os.set_inheritable(number, True)
    os.closerange(3, 1024)


def timed(path):
    """In the child this returns; the parent waits for the child, writes what it took and ends as it did."""
    begin = time.monotonic()
    child = os.fork()
    if not child:
        return
    _, status, used = os.wait4(child, 0)
    with open(path, "a") as out:
        out.write("%.1f\t%.1f\t%s\n" % (used.ru_utime + used.ru_stime, time.monotonic() - begin, " ".join(sys.argv[1:])))
    code = os.waitstatus_to_exitcode(status)
    sys.exit(code if code >= 0 else 128 - code)


def main():
    reset_signals()
    reset_files()
    os.umask(0o022)
    kept = environment()  # while the parent is the caller
    if os.environ.get("TARE_TEST_TIMES"):
        timed(os.environ["TARE_TEST_TIMES"])
    os.execvpe(sys.argv[1], sys.argv[1:], kept)


if __name__ == "__main__":
    main()
