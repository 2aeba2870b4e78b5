#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""stress-ng: one stressor after the other, with its own verification, for a fixed number of operations."""

import program

# Name → operations.
STRESSORS = {
    "atomic": 20, "affinity": 200, "clone": 100, "context": 200, "daemon": 20, "dekker": 2000, "dentry": 500,
    "dup": 100, "dynlib": 20, "env": 20, "epoll": 500, "eventfd": 2000, "exec": 20, "exit-group": 50, "fault": 500,
    "fcntl": 200, "fork": 100, "fstat": 200, "futex": 2000, "getdent": 200, "hrtimers": 2000, "itimer": 200,
    "judy": 2, "kill": 2000, "madvise": 50, "malloc": 2000, "mcontend": 200, "membarrier": 50, "memfd": 20,
    "mincore": 50, "mlock": 50, "mmap": 20, "mmapaddr": 200, "mmapfork": 2, "mmapmany": 2, "mprotect": 200,
    "mq": 2000, "mremap": 20, "msg": 2000, "msync": 20, "mutex": 500, "nanosleep": 20, "null": 2000, "pipe": 2000,
    "pkey": 50, "poll": 50, "procfs": 5, "pthread": 100, "ptrace": 50, "resources": 2, "rlimit": 50, "schedpolicy": 50,
    "sem": 2000, "sem-sysv": 2000, "shm": 5, "shm-sysv": 5, "sigabrt": 20, "sigchld": 50, "sigfd": 200, "sigfpe": 50,
    "signal": 200, "signest": 20, "sigpending": 200, "sigpipe": 50, "sigq": 200, "sigrt": 200, "sigsegv": 50,
    "sigsuspend": 200, "sigtrap": 50, "sock": 200, "sockpair": 200, "spawn": 20, "stack": 20, "switch": 2000,
    "sysbadaddr": 50, "timer": 200, "timerfd": 200, "tmpfs": 2, "tree": 2, "udp": 200, "unshare": 5, "vdso": 200,
    "vfork": 100, "vforkmany": 20, "vm": 20, "wait": 50, "yield": 2000, "zombie": 100,
}


def tests(wanted):
    for name, ops in STRESSORS.items():
        if program.is_wanted(name, wanted):
            argv = ["stress-ng", "--" + name, "2", "--%s-ops" % name, str(ops), "--verify", "--timeout", "30s",
                    "--quiet", "--temp-path", ".", "--oom-avoid", "--vm-bytes", "16m", "--mmap-bytes", "16m",
                    "--mremap-bytes", "16m", "--shm-bytes", "1m", "--malloc-bytes", "16m"]
            yield name, program.outcome_of(argv, lambda text: "")


program.run({"stress-ng": "stress-ng"}, tests)
