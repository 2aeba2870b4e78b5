#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each signal reaches the program once, whoever of its job it was sent to; and what the program inherits
of signals is what it would inherit without tare."""

import ctypes
import os
import signal
import sys
import time

from harness import (ROOT, case, check, check_equal, fixture, main, needs_exec, record_args, tare_argv)

COUNT = os.path.join(ROOT, "tests", "e2e", "fixtures", "count_signals.py")
UNCATCHABLE = {signal.SIGKILL, signal.SIGSTOP}
# A shell's own doing, and what tare's child sends it.
ALL = sorted(set(signal.valid_signals()) - UNCATCHABLE - {signal.SIGCHLD})
STANDARD = [n for n in ALL if n < signal.SIGRTMIN]
libc = ctypes.CDLL(None, use_errno=True)


def own_group():
    os.setpgid(0, 0)


def recorded(command, rec="rec.tare"):
    return tare_argv(*record_args(command, rec=rec, sim=None))


class Counter:
    """The counting program, bare or recorded, in a group of its own, or in a session."""

    def __init__(self, box, name, is_recorded=True, **more):
        self.stop = box.path(name + ".stop")
        command = [sys.executable, COUNT, self.stop]
        argv = recorded(command, name + ".tare") if is_recorded else command
        self.running = box.start(argv, **(more or {"preexec_fn": own_group}))
        self.pid = self.running.pid
        self.program = int(self.running.stdout.readline().split()[1])
        self.got, self.senders = [], set()

    def wait_for(self, number, times=1):
        """Until it has arrived: those that wait together are one."""
        while self.got.count(number) < times:
            line = self.running.stdout.readline().split()
            check(line, "the program ended before signal %d came" % number)
            self.take(line)

    def take(self, line):
        self.got.append(int(line[1]))
        self.senders.add(int(line[2]))

    def end(self):
        """What came, as often as it came."""
        time.sleep(0.15)
        with open(self.stop, "w", encoding="utf-8"):
            pass
        out, err = self.running.communicate(timeout=60)
        check_equal(self.running.returncode, 0, err.decode())
        for line in out.decode().splitlines():
            self.take(line.split())
        return sorted(self.got)


def once_each(counter, send):
    """SIGCONT comes last: it takes back signals that stop, and they it, where the program has not read them."""
    for number in sorted(ALL, key=lambda n: n == signal.SIGCONT):
        send(number)
        counter.wait_for(number)
    return counter.end()


@case
def sent_to_tare_alone(box):
    needs_exec()
    counter = Counter(box, "alone")
    check_equal(once_each(counter, lambda n: os.kill(counter.pid, n)), ALL)


@case
def sent_to_the_program_alone(box):
    needs_exec()
    counter = Counter(box, "program")
    check_equal(once_each(counter, lambda n: os.kill(counter.program, n)), ALL)


@case
def sent_to_the_group(box):
    needs_exec()
    bare = Counter(box, "bare", is_recorded=False)
    wanted = once_each(bare, lambda n: os.killpg(bare.pid, n))
    check_equal(wanted, ALL)
    counter = Counter(box, "group")
    check_equal(once_each(counter, lambda n: os.killpg(counter.pid, n)), wanted)


@case
def sent_to_the_group_of_a_session(box):
    """Where tare leads the session: ssh, a service, a container."""
    needs_exec()
    counter = Counter(box, "session", start_new_session=True)
    check_equal(once_each(counter, lambda n: os.killpg(counter.pid, n)), ALL)


def processes_of_session(leader):
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                if os.getsid(int(name)) == leader:
                    found.append(int(name))
            except ProcessLookupError:
                pass
    return sorted(found)


@case
def sent_to_each_process(box):
    """As systemd and Slurm signal a cgroup: one by one. Tare comes last here: how soon whoever signals has come to the
    others is else the machine's affair, and tare waits for 30 ms of it."""
    needs_exec()
    counter = Counter(box, "each", start_new_session=True)
    processes = processes_of_session(counter.pid)
    check(counter.program in processes and counter.pid in processes, processes)

    def send(number):
        for pid in reversed(processes):
            os.kill(pid, number)

    check_equal(once_each(counter, send), ALL)


@case
def many_at_once(box):
    """Real-time signals are queued: none is lost, none doubled."""
    needs_exec()
    number = signal.SIGRTMIN + 3
    counter = Counter(box, "alone")
    for _ in range(100):
        os.kill(counter.pid, number)
    counter.wait_for(number, 100)
    check_equal(counter.end(), [number] * 100)
    counter = Counter(box, "group")
    for _ in range(100):
        os.killpg(counter.pid, number)
    counter.wait_for(number, 100)
    check_equal(counter.end(), [number] * 100)


@case
def stopped_and_continued_at_once(box):
    """A SIGTSTP that a SIGCONT has overtaken must not come after it, whatever tare has of the two."""
    needs_exec()
    counter = Counter(box, "both")
    for i in range(60):
        os.killpg(counter.pid, signal.SIGTSTP)
        counter.wait_for(signal.SIGTSTP, i + 1)
        os.killpg(counter.pid, signal.SIGCONT)
        counter.wait_for(signal.SIGCONT, i + 1)
    check_equal(counter.end(), [signal.SIGCONT] * 60 + [signal.SIGTSTP] * 60)


@case
def queued_with_a_value(box):
    needs_exec()
    counter = Counter(box, "queued")
    number = signal.SIGRTMIN + 1
    check_equal(libc.sigqueue(counter.pid, ctypes.c_int(number), ctypes.c_void_p(4711)), 0)
    check_equal((counter.end(), counter.senders), ([number], {os.getpid()}))


@case
def by_the_name_of_the_program(box):
    """pkill -f finds the program, and tare by its arguments; what looks for tare finds nobody else."""
    needs_exec()
    counter = Counter(box, "named")
    lines = {}
    for pid in processes_of_session(os.getsid(0)):
        try:
            if os.getpgid(pid) == counter.pid:
                with open("/proc/%d/cmdline" % pid, "rb") as text:
                    lines[pid] = text.read()
        except (ProcessLookupError, FileNotFoundError):
            pass
    check_equal(len(lines), 3, lines)
    check(all(counter.stop.encode() in line for line in lines.values()), lines)
    check_equal([pid for pid, line in lines.items() if b"record" in line], [counter.pid], lines)
    counter.end()


@case
def signals_to_the_parent(box):
    """A program that tells its parent something tells tare's."""
    needs_exec()
    script = "import os,signal,subprocess,sys; got=[]\n" \
             "signal.signal(signal.SIGUSR1, lambda *_: got.append(1))\n" \
             "code = subprocess.call(sys.argv[1:]); print(len(got), code)"
    command = [sys.executable, "-c", "import os,signal,time; os.kill(os.getppid(), signal.SIGUSR1); time.sleep(0.2)"]
    alone = box.run([sys.executable, "-c", script] + command)
    done = box.run([sys.executable, "-c", script] + recorded(command))
    check_equal((alone.out, done.out), ("1 0\n", "1 0\n"), done)


# ---- what is inherited ----

STATUS = ["grep", "^S[ih][gd]", "/proc/self/status"]


def compare_status(box, prepare, rec):
    alone = box.run(STATUS, preexec_fn=prepare)
    done = box.run(recorded(STATUS, rec), preexec_fn=prepare)
    check_equal(alone.code, 0, alone)
    kept = [[line for line in r.out.splitlines() if not line.startswith("SigQ")] for r in (done, alone)]
    check_equal(kept[0], kept[1], done)
    check_equal(done.code, 0, done)


@case
def ignored_and_blocked_and_pending(box):
    needs_exec()

    def ignore_all():
        for number in ALL + [signal.SIGCHLD]:
            signal.signal(number, signal.SIG_IGN)

    def block_all():
        signal.pthread_sigmask(signal.SIG_SETMASK, ALL)

    def leave_pending():
        for number in STANDARD + [signal.SIGRTMIN + 2]:
            if number not in (signal.SIGCONT, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU):
                signal.pthread_sigmask(signal.SIG_BLOCK, [number])
                os.kill(os.getpid(), number)

    for i, prepare in enumerate((None, ignore_all, block_all, leave_pending)):
        compare_status(box, prepare, "rec%d.tare" % i)
    for number in ALL + [signal.SIGCHLD]:
        compare_status(box, lambda n=number: signal.signal(n, signal.SIG_IGN), "one%d.tare" % number)


@case
def children_that_nobody_waits_for(box):
    """SIGCHLD ignored: the kernel buries children, and tare waits for its own nevertheless."""
    needs_exec()
    for code in (0, 3):
        done = box.run(recorded(["/bin/sh", "-c", "exit %d" % code], "rec%d.tare" % code), timeout=20,
                       preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        check_equal(done.code, code, done)


@case
def alarm_goes_on(box):
    """`alarm 1; exec tare run …` limits the program's time, as without tare."""
    needs_exec()
    for timer, number in ((signal.ITIMER_REAL, signal.SIGALRM), (signal.ITIMER_PROF, signal.SIGPROF)):
        begin = time.monotonic()
        done = box.run(recorded(["/bin/sh", "-c", "while :; do :; done"], "rec%d.tare" % number), timeout=30,
                       preexec_fn=lambda t=timer: signal.setitimer(t, 0.5))
        check_equal(done.code, 128 + number, done)
        check(time.monotonic() - begin < 20, "it took too long")


@case
def attributes_of_the_process(box):
    """The parent-death signal and whether orphans come to it."""
    needs_exec()
    show = [sys.executable, "-c",
            "import ctypes; l=ctypes.CDLL(None); a=ctypes.c_int(); b=ctypes.c_int();"
            "l.prctl(2,ctypes.byref(a)); l.prctl(37,ctypes.byref(b)); print(a.value,b.value)"]

    def prepare():
        libc.prctl(1, int(signal.SIGUSR2))
        libc.prctl(36, 1)

    alone = box.run(show, preexec_fn=prepare)
    done = box.run(recorded(show), preexec_fn=prepare)
    check_equal((alone.out, done.out), ("%d 1\n" % signal.SIGUSR2,) * 2, done)


@case
def signals_that_end_the_program(box):
    """Whatever ends a program that catches nothing, sent to tare: the program's end, never tare's alone."""
    needs_exec()
    harmless = {signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH, signal.SIGTSTP, signal.SIGTTIN,
                signal.SIGTTOU}
    for number in sorted(set(ALL) - harmless):
        running = box.start(recorded(["sh", "-c", "echo $$; exec sleep 60"], "rec%d.tare" % number), preexec_fn=own_group)
        program = int(running.stdout.readline())
        running.send_signal(number)
        _, err = running.communicate(timeout=30)
        check_equal(running.returncode, 128 + number, number, err.decode())
        check(not os.path.exists("/proc/%d" % program), "the program still runs after signal %d" % number)


main()
