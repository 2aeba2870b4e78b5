#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Other people's programs, plain and recorded: peers.py TARE SIMGPU PEER [MODULE…]

TARE is the program, SIMGPU the folder of the simulated GPU. A PEER is a row below; its modules are compared one
after the other (compare.py says how), each is a line of TAP.
"""

import glob
import os
import subprocess
import sys

from compare import Module, Ways

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = "/usr/bin/python3"
SECONDS = 1500  # that one run of a module may take
CPYTHON_PROCESSES = ["test_subprocess", "test_threading", "test_signal"]
# Whatever starts processes and threads, waits for them, maps memory, loads libraries, or talks on the loopback.
CPYTHON_REST = [
    "test_multiprocessing_spawn", "test_multiprocessing_fork", "test_multiprocessing_forkserver",
    "test_multiprocessing_main_handling", "test_concurrent_futures", "test_os", "test_posix", "test_fork1",
    "test_wait3", "test_wait4", "test_popen", "test_pty", "test_thread", "test_threadsignals", "test_threading_local",
    "test_queue", "test_faulthandler", "test_atexit", "test_eintr", "test_mmap", "test_fcntl", "test_resource",
    "test_select", "test_selectors", "test_poll", "test_epoll", "test_socket", "test_ssl",
    "test_cmd_line", "test_sys", "test_site", "test_gc", "test_tracemalloc",
    "test_io", "test_tempfile", "test_shutil",
    "test_asyncio/test_events", "test_asyncio/test_subprocess", "test_asyncio/test_unix_events",
    "test_asyncio/test_streams", "test_asyncio/test_tasks", "test_asyncio/test_base_events",
]
# PEER → its modules. Of CPython a module is a file of its tests, else a file in programs/.
PEERS = {
    "cpython": CPYTHON_PROCESSES,
    "cpython_gpu": CPYTHON_PROCESSES,
    "cpython_host": CPYTHON_PROCESSES,
    "cpython_rest": CPYTHON_REST,
    "cpython_rest_host": CPYTHON_REST,
    "stress_ng": ["stress_ng"],
    "redis": ["redis"],
    "postgresql": ["postgresql"],
    "numpy": ["numpy_tests"],
    "java": ["java"],
    "go": ["go"],
    "node": ["node"],
}


def cpython_folder():
    """Debian has the tests in a package of their own."""
    found = glob.glob("/usr/lib/python3*/test/test_subprocess.py")
    done = subprocess.run([PYTHON, "-c", "import sysconfig; print(sysconfig.get_paths()['stdlib'])"],
                          stdout=subprocess.PIPE, check=True)
    folder = os.path.join(done.stdout.decode().strip(), "test")
    return folder if os.path.join(folder, "test_subprocess.py") in found else None


def cpython_command(options):
    folder = cpython_folder()

    def command(module, patterns, out):
        file = os.path.join(folder, module + ".py")
        return [PYTHON, os.path.join(HERE, "outcomes.py")] + options + ["--no-resources", out, file] + patterns
    return command if folder else None


def program_command(module, patterns, out):
    return [PYTHON, os.path.join(HERE, "programs", module + ".py"), out] + patterns


def why_not(peer):
    """Why it cannot run here; None: it can."""
    if peer.startswith("cpython"):
        return None if cpython_folder() else "not installed: libpython3-testsuite, for %s" % PYTHON
    done = subprocess.run(program_command(PEERS[peer][0], [], "--missing"), stdout=subprocess.PIPE, check=True)
    return done.stdout.decode().strip() or None


def ways_of(peer, tare, simgpu):
    if peer == "cpython_gpu":
        return Ways(tare, [], cpython_command(["--gpu"]), SECONDS, sim=simgpu)
    options = ["--host=full"] if peer.endswith("_host") else []
    return Ways(tare, options, cpython_command([]) if peer.startswith("cpython") else program_command, SECONDS)


def comments(module):
    yield "%d tests, %d of them flaky; CPU %.1f s, recorded %.1f s" % (
        len(module.plain.outcomes), len(module.flaky), module.plain.seconds, module.recorded.seconds)
    for kind, tests in (("different", module.ours), ("flaky", module.flaky)):
        for test, plain, recorded in tests:
            yield "%s: %s: plain %s; recorded %s" % (kind, test, " / ".join(plain), " / ".join(recorded))
    for problem in module.problems():
        yield "problem: " + problem
    if module.ours or module.problems():
        yield from module.recorded.said.splitlines()[-30:]


def compare(peer, names, ways):
    """How many modules differ."""
    bad = 0
    for number, name in enumerate(names, 1):
        module = Module(name, [], ways)
        for line in comments(module):
            print("# " + line)
        is_bad = bool(module.ours or module.problems())
        print("%s %d - %s %s" % ("not ok" if is_bad else "ok", number, peer, name), flush=True)
        bad += is_bad
    return bad


def main():
    tare, simgpu, peer = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3]
    names = sys.argv[4:] or PEERS[peer]
    reason = why_not(peer)
    if reason:
        print("1..0 # SKIP " + reason)
        return
    print("1..%d" % len(names), flush=True)
    sys.exit(compare(peer, names, ways_of(peer, tare, simgpu)) > 0)


if __name__ == "__main__":
    main()
