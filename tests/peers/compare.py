# SPDX-License-Identifier: Apache-2.0
"""Other people's tests, run plain and recorded: each must have the same outcome both ways.

A module is what is run in one process, and names the outcome of each of its tests in a file of lines as
outcomes.py writes them. It is run once plain, once under `tare run`. Tests whose outcome differs are run twice
more, each way, with those of their classes. A test that is not always the same when plain, or differed once only, is
called flaky.
"""

import json
import os
import resource
import shutil
import signal
import subprocess
import tempfile

ARGUMENTS = 1 << 16  # bytes of names that a command line is given: else all tests are run again


class Run:
    """What one run of a module gave: outcomes by test, in order; how the process ended; seconds of CPU time;
    what it said."""

    def __init__(self, lines, code, seconds, said):
        if isinstance(code, int) and code < 0:
            code = 128 - code  # as tare says it of a signal
        self.outcomes, self.code, self.seconds, self.said = {}, code, seconds, said
        self.is_recorded = None
        for line in lines:
            record = json.loads(line)
            if "is_recorded" in record:
                self.is_recorded = record["is_recorded"]
                continue
            test = record.get("began") or record["ended"]
            self.outcomes[test] = record.get("as", "took the process with it")

    def of(self, test):
        return self.outcomes.get(test, "not run")

    def reason(self):
        """Why there are no tests."""
        lines = self.said.strip().splitlines()
        return lines[-1] if lines else "exit %s" % self.code


class Ways:
    """The two ways to run a module: plain and recorded. `command(module, patterns, outcomes)` is the argv, `folder`
    where it is run (else in a folder of its own), `env` what is in its environment besides; `sim`: None, or
    the folder of the simulated GPU that it finds."""

    def __init__(self, tare, options, command, seconds, folder=None, env=None, sim=None):
        self.tare, self.options, self.command, self.seconds = tare, options, command, seconds
        self.folder, self.env, self.sim = folder, env or {}, sim

    def plain(self, module, patterns):
        def in_box(box, argv):
            return argv
        env = {"LD_LIBRARY_PATH": self.sim, "TARE_SIM_PROFILE": "h200"} if self.sim else {}
        return self.run(in_box, module, patterns, env)[0]

    def recorded(self, module, patterns):
        """The run, and its recording."""
        def in_box(box, argv):
            sim = ["--sim", "h200"] if self.sim else []
            return [self.tare, "run", "-o", os.path.join(box, "rec.tare")] + sim + self.options + ["--"] + argv
        return self.run(in_box, module, patterns, {}, lambda box: Recording(self.tare, os.path.join(box, "rec.tare")))

    def run(self, in_box, module, patterns, env, look=lambda box: None):
        box = tempfile.mkdtemp(prefix="tare-peers-")
        try:
            for name in ("here", "sim"):
                os.mkdir(os.path.join(box, name))
            out = os.path.join(box, "outcomes")
            argv = in_box(box, self.command(module, patterns, out))
            env = dict(os.environ, PYTHONHASHSEED="0", PYTHONDONTWRITEBYTECODE="1",
                       TARE_SIM_DIR=os.path.join(box, "sim"), **self.env, **env)
            return self.wait(argv, env, self.folder or os.path.join(box, "here"), out), look(box)
        finally:
            shutil.rmtree(box, ignore_errors=True)

    def wait(self, argv, env, folder, out):
        before = cpu_seconds()
        with tempfile.TemporaryFile() as said:
            running = subprocess.Popen(argv, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                                       start_new_session=True)
            try:
                code = running.wait(self.seconds)
            except subprocess.TimeoutExpired:
                code = "timeout"
            finally:
                end_group(running)
            seconds = cpu_seconds() - before
            said.seek(0)
            text = said.read().decode("utf-8", "replace")
        lines = []
        if os.path.exists(out):
            with open(out, encoding="utf-8") as file:
                lines = file.readlines()
        return Run(lines, code, seconds, text)


class Recording:
    """Whatever the tests did, it can be read. `mib` None: nothing was recorded, no driver and no tensor."""

    def __init__(self, tare, rec):
        self.mib, self.wrong = None, None
        if not os.path.isdir(rec):
            return
        self.mib = sum(os.path.getsize(os.path.join(rec, name)) for name in os.listdir(rec)) / (1 << 20)
        done = subprocess.run([tare, "report", rec, "--at", "end", "--json"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False)
        if done.returncode:
            self.wrong = "tare report: exit %d: %s" % (done.returncode, done.stderr.decode("utf-8", "replace"))


def cpu_seconds():
    """Of the children that ended, and theirs: what other programs do here is not in it."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def end_group(running):
    """What the tests left behind would disturb the next run."""
    try:
        os.killpg(running.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    running.wait()


def differing(plain, recorded):
    tests = dict.fromkeys(list(plain.outcomes) + list(recorded.outcomes))
    return [test for test in tests if plain.of(test) != recorded.of(test)]


def class_of(test):
    """Of `__main__.TestClass.test_name`, of `setUpClass (__main__.TestClass)` and `file.py::TestClass::test_name`."""
    if test.endswith(")"):
        return test[test.index("(") + 1:-1]
    return test.partition("[")[0].rpartition("::" if "::" in test else ".")[0]


def is_flaky(plain, recorded):
    """Outcomes of one test, three of each way."""
    return len(set(plain)) > 1 or recorded.count(plain[0]) >= len(recorded) - 1


class Module:
    """The comparison of one module."""

    def __init__(self, name, patterns, ways):
        self.name, self.seconds, self.uses_gpu = name, ways.seconds, bool(ways.sim)
        self.plain = ways.plain(name, patterns)
        self.recorded, self.recording = ways.recorded(name, patterns)
        self.flaky, self.ours = [], []
        different = differing(self.plain, self.recorded)
        if different:
            self.look_again(different, ways)

    def look_again(self, different, ways):
        classes = set(map(class_of, different))
        patterns = [test for test in dict.fromkeys(list(self.plain.outcomes) + list(self.recorded.outcomes))
                    if class_of(test) in classes and not test.endswith(")")]
        if sum(map(len, patterns)) > ARGUMENTS:
            patterns = []
        plain, recorded = [self.plain], [self.recorded]
        again = {"plain": lambda: plain.append(ways.plain(self.name, patterns)),
                 "recorded": lambda: recorded.append(ways.recorded(self.name, patterns)[0])}
        for way in ("recorded", "plain", "plain", "recorded"):  # what alternates by itself is not ours
            again[way]()
        for test in different:
            sides = [run.of(test) for run in plain], [run.of(test) for run in recorded]
            (self.flaky if is_flaky(*sides) else self.ours).append((test,) + sides)

    def counts(self):
        """How often there was which outcome when plain; errors of all kinds are one."""
        counts = {}
        for outcome in self.plain.outcomes.values():
            kind = outcome.split(" ", 1)[0] if outcome.startswith("error") else outcome
            counts[kind] = counts.get(kind, 0) + 1
        order = sorted(counts, key=lambda kind: (-counts[kind], kind))
        return ", ".join("%d %s" % (counts[kind], kind) for kind in order)

    def problems(self):
        """What makes the comparison fail, besides tests."""
        out = [self.recording.wrong] if self.recording.wrong else []
        if self.uses_gpu and self.recording.mib is None:
            out.append("nothing was recorded")
        if "timeout" in (self.plain.code, self.recorded.code):
            out.append("it took more than %g s" % self.seconds)
            return out
        if not self.plain.outcomes:
            out.append("no test ran: " + self.plain.reason())
        elif (self.plain.is_recorded, self.recorded.is_recorded) != (False, True):
            out.append("the recorder was loaded: plain %s, recorded %s" % (self.plain.is_recorded,
                                                                           self.recorded.is_recorded))
        if self.plain.code != self.recorded.code and not self.flaky and not self.ours:
            out.append("the program ended with %s, recorded with %s" % (self.plain.code, self.recorded.code))
        return out

    def row(self):
        tests = len(set(self.plain.outcomes) | set(self.recorded.outcomes))
        other = len(self.flaky) + len(self.ours)
        return [self.name, tests, tests - other, len(self.ours), len(self.flaky),
                self.counts(), "%.0f" % self.plain.seconds, "%.0f" % self.recorded.seconds,
                "–" if self.recording.mib is None else "%.1f" % self.recording.mib]


def show(modules):
    print("| module | tests | same | different | flaky | outcomes without tare | CPU s plain | CPU s recorded "
          "| MiB recorded |")
    print("|---|---|---|---|---|---|---|---|---|")
    for module in modules:
        print("| " + " | ".join(map(str, module.row())) + " |")
    for module in modules:
        for kind, tests in (("different", module.ours), ("flaky", module.flaky)):
            for test, plain, recorded in tests:
                print("%s: %s %s: plain %s; recorded %s" % (
                    kind, module.name, test, " / ".join(plain), " / ".join(recorded)))
        for problem in module.problems():
            print("problem: %s: %s" % (module.name, problem))
