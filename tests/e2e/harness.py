# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests share: running tare and fixtures, reading reports, TAP.

A test file defines cases and ends with main():

    @case
    def refuses_an_existing_folder(box):
        ...

Each case gets a box: a folder of its own and the means to run things in it. It fails by raising,
skips by raising Skip("why"). Run one by hand with

    tests/e2e/t_output.py CASE          (TARE_E2E_BUILD names the build folder, default build/)
"""

import functools
import glob
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import zlib

sys.dont_write_bytecode = True

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
with open(os.path.join(ROOT, "VERSION"), encoding="utf-8") as version_file:
    VERSION = version_file.read().strip()
BUILD = os.path.abspath(os.environ.get("TARE_E2E_BUILD") or os.path.join(ROOT, "build"))
FIXTURES = os.path.join(BUILD, "tests", "e2e")
SIMGPU = os.path.join(BUILD, "simgpu")
WRAPPER = os.environ.get("MESON_EXE_WRAPPER", "").split()
PYTHON = "/usr/bin/python3"  # that has PyTorch, if any does
NO_FOLDER = "/nonexistent"  # for lines of what the system has installed: where there are any, each report reads those of libc
IS_LONG = bool(os.environ.get("TARE_TEST_LONG"))
MIB = 1 << 20
PATIENCE = 5  # times every limit in seconds: they are for what hangs, and a busy machine is not to come to them

# Only these come from outside, so that a developer's environment changes no result.
KEPT = ("PATH", "HOME", "TMPDIR", "QEMU_LD_PREFIX")


class Failure(Exception):
    pass


class Skip(Exception):
    """This cannot be shown on such a machine."""


class Missing(Skip):
    """This is shown once somebody installs a package: no reason to skip where TARE_CI is set (tools/count-tests.py)."""

    def __init__(self, package):
        super().__init__("not installed: " + package)


def needs(is_there, package):
    """What a test takes from a package of the system; in an emulator that would be for another machine."""
    if not is_there:
        raise Skip("no %s for an emulated machine" % package) if WRAPPER else Missing(package)


def needs_program(name, package=None):
    needs(shutil.which(name), package or name)


def needs_cplusplus(program):
    """A program of the tests that was built if there was a compiler of C++."""
    needs(os.path.exists(os.path.join(FIXTURES, program)), "g++")


def real_files(pattern):
    """Files that other people's tools wrote, below the folder of the option real_data or of TARE_REAL_DATA; there is one
    at least. "none" says that there are none, on purpose: without a word that is no reason to skip where TARE_CI is set."""
    folder = os.environ.get("TARE_REAL_DATA", "")
    if folder == "none":
        raise Skip("no files of other tools here")
    if not folder and WRAPPER:
        raise Skip("files of other tools are read outside the emulator")
    if not folder:
        raise Skip("not given: a folder with files of other tools (TARE_REAL_DATA=FOLDER, or meson configure build "
                   "-Dreal_data=FOLDER)")
    files = sorted(glob.glob(os.path.join(folder, pattern), recursive=True))
    check(files, pattern)
    return files


class Result:
    """How a command ended. Texts are str; `stdout` is bytes."""

    def __init__(self, argv, code, stdout, stderr):
        self.argv = argv
        self.code = code
        self.stdout = stdout
        self.out = stdout.decode("utf-8", "replace")
        self.err = stderr.decode("utf-8", "replace")

    def __str__(self):
        return "%s\nexit %s\nstdout: %s\nstderr: %s" % (
            " ".join(self.argv), self.code, self.out[-3000:], self.err[-3000:])


def check(condition, *what):
    if not condition:
        raise Failure("\n".join(str(w) for w in what) or "not as expected")


def check_equal(got, wanted, *what):
    check(got == wanted, "got %r, not %r" % (got, wanted), *what)


def check_says(text, *parts):
    """An error names subject, cause and next step: each of `parts` is in it."""
    for part in parts:
        check(part in text, "does not say %r:" % part, text)


def needs_exec():
    """Emulated programs cannot start others, and their forked children are not told apart."""
    if WRAPPER:
        raise Skip("an emulated program cannot start another")


def needs_own_command():
    """What Tare says of a command it says of the emulator."""
    if WRAPPER:
        raise Skip("under an emulator every command is the emulator")


@functools.lru_cache(maxsize=None)
def has_torch():
    return subprocess.run([PYTHON, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode == 0


def needs_torch():
    if WRAPPER:
        raise Skip("the PyTorch here is of another machine")
    needs(has_torch(), "python3-torch")


def needs_root():
    if os.getuid() != 0:
        raise Skip("only root can make this world")


def wait_until(is_so, *what, seconds=20):
    """What is_so() answers, once that is something; `what` else, for as many seconds as a busy machine does not come to."""
    until = time.monotonic() + seconds * PATIENCE
    while not (got := is_so()):
        check(time.monotonic() < until, *what)
        time.sleep(0.01)
    return got


class Running(subprocess.Popen):
    def wait(self, timeout=None):
        return super().wait(timeout and timeout * PATIENCE)

    def communicate(self, input=None, timeout=None):
        return super().communicate(input, timeout and timeout * PATIENCE)


class Box:
    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="tare-e2e-")
        self.unchecked = {}  # recordings whose views cannot agree, and why: they are damaged on purpose
        self.sim_dir = os.path.join(self.dir, "sim")
        os.mkdir(self.sim_dir)

    def path(self, *names):
        return os.path.join(self.dir, *names)

    def close(self):
        shutil.rmtree(self.dir, ignore_errors=True)

    def environment(self, env=None, sim=False):
        """A clean one; `sim`: as a program needs that finds the simulated GPU without tare."""
        out = {k: os.environ[k] for k in KEPT if k in os.environ}
        out["LANG"] = "C.UTF-8"
        out["TARE_SIM_DIR"] = self.sim_dir
        out["TARE_TEST_DEBUG_FOLDER"] = NO_FOLDER
        if sim:
            out["LD_LIBRARY_PATH"] = SIMGPU
            out["TARE_SIM_PROFILE"] = "h200"
        for name, value in (env or {}).items():
            if value is None:
                out.pop(name, None)
            else:
                out[name] = value
        return out

    def run(self, argv, env=None, sim=False, timeout=60, **more):
        """Runs argv to its end, here."""
        if "input" not in more and "stdin" not in more:
            more["stdin"] = subprocess.DEVNULL
        done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.dir,
                              env=self.environment(env, sim), timeout=timeout * PATIENCE, **more)
        return Result(argv, done.returncode, done.stdout, done.stderr)

    def start(self, argv, env=None, sim=False, **more):
        """Starts argv; the caller waits. Its output is read from the pipes of the Popen."""
        more.setdefault("stdin", subprocess.DEVNULL)
        more.setdefault("stdout", subprocess.PIPE)
        more.setdefault("stderr", subprocess.PIPE)
        return Running(argv, cwd=self.dir, env=self.environment(env, sim), **more)

    def tare(self, *args, **more):
        return self.run(tare_argv(*args), **more)

    def record(self, argv, rec="rec.tare", sim="h200", options=(), exit_code=0, **more):
        """tare record -- argv; `exit_code` None: any."""
        done = self.tare(*record_args(argv, rec, sim, options), **more)
        if exit_code is not None:
            check_equal(done.code, exit_code, done)
        return done

    def drop_events(self, rec="rec.tare"):
        """As under a cap that is far too small: no event is left, only what they came to."""
        done = self.tare("compact", "--cap", "1", rec)
        check_equal(done.code, 0, done)
        with open(self.path(rec, "segments.json")) as file:
            dropped = json.load(file).get("dropped")
        check(dropped and dropped["events"], "no event was dropped", dropped)
        return dropped

    def report(self, rec="rec.tare", at="end", code=0, **more):
        done = self.tare("report", rec, "--at", at, "--json", **more)
        check_equal(done.code, code, done)
        report = json.loads(done.out)
        check_balance(report, at)
        return report

    def records(self, rec="rec.tare"):
        """All records, as tare dump --json writes them."""
        done = self.tare("dump", rec, "--json")
        check_equal(done.code, 0, done)
        return [json.loads(line) for line in done.out.splitlines()]

    def events(self, rec="rec.tare"):
        """Those of calls (kinds event and pool); `api` is a name."""
        records = self.records(rec)
        # A thread's lane may reach the log after that of another, which used a name that it wrote.
        names = {(r["log"], r["id"]): r["text"] for r in records if r.get("kind") == "string"}
        events = [r for r in records if r.get("kind") in ("event", "pool") and r["api"]]
        for event in events:
            event["api"] = names[event["log"], event["api"]]
        return events


def tare_argv(*args):
    return WRAPPER + [os.path.join(BUILD, "tare")] + list(args)


def record_args(argv, rec="rec.tare", sim="h200", options=()):
    args = ["record", "-o", rec]
    if sim:
        args += ["--sim", sim]
    return args + list(options) + ["--"] + list(argv)


def program_of(running):
    """The process that tare started, its first child; under an emulator, the emulator's that runs tare."""
    with open("/proc/%d/task/%d/children" % (running.pid, running.pid), encoding="utf-8") as text:
        return int(text.read().split()[0])


def fixture(name, *args):
    return WRAPPER + [os.path.join(FIXTURES, name)] + list(args)


def in_world(box, script, *options, **more):
    """A shell script in the box, with mounts of its own; `options` are of unshare. The world is closed at the mount
    that the box is on, not at /: in a chroot that is none. What the script cannot mount, it ends with 77 for."""
    needs_exec()
    close = 'mount --make-private "$(findmnt -n -o TARGET -T .)" || exit 77\n'
    world = "-m" if os.getuid() == 0 else "-rm"
    done = box.run(["unshare", world, "--propagation", "unchanged"] + list(options) +
                   ["/bin/sh", "-c", close + script], **more)
    if done.code == 77 or done.err.startswith("unshare: "):
        raise Skip("nothing can be mounted here: " + done.err.strip())
    return done


def on_small_disk(box, size, commands, **more):
    """Shell commands in the box, in a world of their own in which $disk, its folder "disk", is a file system of
    `size`."""
    os.mkdir(box.path("disk"))
    return in_world(box, "set -u; disk=$PWD/disk; mount -t tmpfs -o size=%s,mode=700 tmpfs \"$disk\" || exit 77; %s"
                    % (size, commands), **more)


# ---- terminals ----

def read_until(fd, text, seconds=20):
    seen = b""
    until = time.monotonic() + seconds * PATIENCE
    while text not in seen and time.monotonic() < until:
        if not select.select([fd], [], [], 0.2)[0]:
            continue
        try:
            part = os.read(fd, 4096)
        except OSError:
            break
        if not part:
            break
        seen += part
    return seen


def on_terminal(box, argv, env=None):
    """(pid, fd): argv as the foreground job of a terminal of its own."""
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(box.dir)
        os.execve(argv[0], argv, box.environment(env))
    return pid, fd


def end_of(pid):
    _, status = os.waitpid(pid, 0)
    return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


# ---- ledgers ----

def compare(box, script, *program):
    """What a script of tests/gpu/tensors says of a fixture, which prints what PyTorch's own figures would be."""
    done = box.record(fixture(*program), rec="marks.tare", options=("-f",))
    figures = box.path("figures")
    with open(figures, "w", encoding="utf-8") as file:
        file.write(done.out)
    said = box.run([sys.executable, os.path.join(ROOT, "tests", "gpu", "tensors", script)] + tare_argv()
                   + [box.path("marks.tare"), figures, "marks"])
    check_equal(said.code, 0, said)
    return json.loads(said.out.splitlines()[-1])


def leaves(device):
    return [row for row in device["accounts"] if row["leaf"]]


def check_balance(report, at):
    """Law 1, for every device."""
    for device in report["devices"]:
        known = sum(row["bytes"] for row in leaves(device))
        if device["unexplained_bytes"] is not None:
            check_equal(known + device["unexplained_bytes"], device["used_bytes"],
                        "device %s at %s: leaves and unexplained are not what is in use"
                        % (device["index"], at), show(report))


def show(report):
    lines = []
    for device in report["devices"]:
        lines.append("device %s used %s unexplained %s" % (
            device["index"], device["used_bytes"], device["unexplained_bytes"]))
        for row in leaves(device):
            lines.append("  %-60s %14d %s %s" % (row["path"], row["bytes"], row["evidence"], row["count"]))
    return "\n".join(lines + ["degraded: " + d for d in report["degraded"]])


def degraded(report):
    """Its sentences, without the one that an emulator as the command causes."""
    return [d for d in report["degraded"] if not (WRAPPER and "statically linked" in d)]


def row_of(report, suffix, device=0):
    """Bytes of the rows whose path ends so; None: there is none."""
    found = [row["bytes"] for row in report["devices"][device]["accounts"]
             if row["path"].endswith(suffix)]
    return sum(found) if found else None


def unexplained(report, device=0):
    return report["devices"][device]["unexplained_bytes"]


class Expectations:
    """The lines of a fixture's stdout."""

    def __init__(self, text):
        self.rows = []  # (device, path, bytes, evidence, count, at)
        self.used, self.unexplained, self.degraded = {}, {}, []
        self.allowed = []  # sentences that depend on when tare looked
        self.graphs, self.graph_counts, self.savings = [], None, []
        for line in text.splitlines():
            words = line.split("\t")
            if words[0] == "expect" and len(words) == 7:
                self.rows.append((int(words[1]),) + tuple(words[2:]))
            elif words[0] == "used" and len(words) == 4:
                self.used[int(words[1]), words[3]] = int(words[2])
            elif words[0] == "unexplained" and len(words) == 4:
                self.unexplained[int(words[1]), words[3]] = int(words[2])
            elif words[0] == "degraded":
                self.degraded.append(words[1])
            elif words[0] == "graph" and len(words) == 4:
                self.graphs.append((int(words[1]), words[2], words[3]))
            elif words[0] == "graphs" and len(words) == 3:
                self.graph_counts = int(words[1]), int(words[2])
            elif words[0] == "saving" and len(words) == 3:
                self.savings.append((words[1], int(words[2])))

    def instants(self):
        return sorted({row[5] for row in self.rows})

    def mistakes(self, report, at):
        out = []
        wanted = [row for row in self.rows if row[5] == at]
        devices = {d["index"]: d for d in report["devices"]}
        for device, path, size, evidence, count, _ in wanted:
            found = [r for r in leaves(devices[device]) if r["path"] == path] if device in devices else []
            if not found:
                if size != "0":
                    out.append("no row %s of device %d" % (path, device))
                continue
            for name, value in (("bytes", size), ("evidence", evidence), ("count", count)):
                if value not in ("-", str(found[0][name])):
                    out.append("%s of %s: %s, not %s" % (name, path, found[0][name], value))
        for index, device in devices.items():
            paths = {row[1] for row in wanted if row[0] == index}
            if not any(path.startswith("other") for path in paths):
                paths |= {r["path"] for r in leaves(device) if r["path"].startswith("other")}
            out += ["row %s of %d bytes that nobody expects" % (r["path"], r["bytes"])
                    for r in leaves(device) if r["bytes"] and r["path"] not in paths]
            if device["unexplained_bytes"] != self.unexplained.get((index, at), 0):
                out.append("unexplained of device %d: %s" % (index, device["unexplained_bytes"]))
            if self.used.get((index, at), device["used_bytes"]) != device["used_bytes"]:
                out.append("device %d uses %s, not %s" % (
                    index, device["used_bytes"], self.used[index, at]))
        said = degraded(report)
        out += ["degraded: " + d for d in said
                if not any(e in d for e in self.degraded + self.allowed)]
        out += ["nothing says: " + e for e in self.degraded if not any(e in d for d in said)]
        return out

    def check(self, report, at):
        mistakes = self.mistakes(report, at)
        check(not mistakes, *(mistakes + [show(report)]))


def check_graphs(box, wanted, rec="rec.tare"):
    """The rows of `--by graph`: of graph NUMBER, KEY is VALUE (`-`: not known; `…*`: begins so)."""
    done = box.tare("report", rec, "--by", "graph", "--at", "end", "--json")
    check_equal(done.code, 0, done)
    report = json.loads(done.out)
    rows = {row["number"]: row for row in report["rows"]}
    if wanted.graph_counts:
        check_equal((len(rows), report["graphs_captured"]), wanted.graph_counts, "rows, captured")
    for number, key, value in wanted.graphs:
        check(number in rows, "there is no graph %d" % number)
        got = rows[number][key]
        got = "-" if got is None else str(got)
        if value.endswith("*"):
            got = got[:len(value) - 1] + "*"
        check_equal(got, value, "%s of graph %d" % (key, number))
    saved = {row["saving"]: row["saves_bytes"] for row in report["savings"]}
    for key, value in wanted.savings:
        check_equal(saved.get(key), value, "what %s would save" % key)


def check_recording(box, recorded, rec="rec.tare", allowed=()):
    """What the fixture printed, against reports of every instant it names."""
    wanted = Expectations(recorded.out)
    wanted.allowed += allowed
    check(wanted.rows, "the fixture expects nothing", recorded)
    for at in wanted.instants():
        wanted.check(box.report(rec, at), at)
    check_graphs(box, wanted, rec)


def run_lines(text):
    """Lines of a fixture without the pids in them, so that two runs can be compared."""
    return [[re.sub("from:[0-9]+", "from:PID", w.split("/", 1)[-1]) if w.startswith("process:") else w
             for w in line.split("\t")] for line in text.splitlines()]


# ---- every recording that a case leaves ----

LARGE = 32 * MIB  # what takes seconds to compare; cases make few such
VIEWS_OF = 8  # in a file that does not say so, the recordings of one case in so many are checked, always the same


def folder_size(folder):
    return sum(os.lstat(os.path.join(top, name)).st_size for top, _, names in os.walk(folder) for name in names)


def recordings_of(box):
    """Names of NAME.tare in the box, and in folders of it."""
    found = glob.glob(os.path.join(box.dir, "*.tare")) + glob.glob(os.path.join(box.dir, "*", "*.tare"))
    return sorted(os.path.relpath(path, box.dir) for path in found
                  if os.path.isdir(path) and not os.path.islink(path) and os.access(path, os.R_OK | os.X_OK))


def check_views(box):
    """All views of what the case recorded agree. What cannot be read is no recording: 125."""
    for name in recordings_of(box):
        if WRAPPER or name in box.unchecked or folder_size(box.path(name)) > LARGE:
            continue
        before = os.times()
        said = box.tare("info", "--check", name)
        VIEWS.append(os.times().children_user + os.times().children_system - before.children_user - before.children_system)
        check(said.code in (0, 125), "%s: two views of it differ" % name, said)


# ---- cases ----

CASES = []
VIEWS = []  # seconds of the processor for each recording whose views were checked


def case(function):
    CASES.append(function)
    return function


def place_of(error):
    """The line of a test at which it was noticed."""
    frames = [f for f in traceback.extract_tb(error.__traceback__)
              if os.path.basename(f.filename) != "harness.py"]
    return "%s:%d: %s" % (frames[-1].filename, frames[-1].lineno, frames[-1].line) if frames else ""


def is_sampled(function):
    """By its name alone; TARE_E2E_VIEWS=all: every case is."""
    return os.environ.get("TARE_E2E_VIEWS") == "all" or zlib.crc32(function.__name__.encode()) % VIEWS_OF == 0


def run_case(function, checks_views=None):
    """(passed, comment). checks_views: of every case, of none, or (None) of those that are sampled."""
    box = Box()
    try:
        function(box)
        if is_sampled(function) if checks_views is None else checks_views:
            check_views(box)
        return True, ""
    except Skip as why:
        return None, str(why)
    except Failure as why:
        return False, "%s\n%s" % (place_of(why), why)
    except Exception:
        return False, traceback.format_exc()
    finally:
        box.close()


def main(argv=None, checks_views=None):
    argv = sys.argv if argv is None else argv
    chosen = [c for c in CASES if len(argv) < 2 or argv[1] in c.__name__]
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    print("1..%d" % len(chosen), flush=True)
    failed = 0
    for number, function in enumerate(chosen, 1):
        passed, comment = run_case(function, checks_views)
        if passed is None:
            print("# skip: %s" % comment)
            print("ok %d - %s # SKIP %s" % (number, function.__name__, comment), flush=True)
            continue
        for line in comment.splitlines():
            print("# " + line)
        print("%s %d - %s" % ("ok" if passed else "not ok", number, function.__name__), flush=True)
        failed += not passed
    print("# views of %d recordings checked in %.1f s of the processor" % (len(VIEWS), sum(VIEWS)))
    sys.exit(failed > 0)
