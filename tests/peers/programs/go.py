#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Go's own tests of what meets the system, linked with the C library: others the recorder cannot see at all."""

import os
import re
import subprocess

import program

PACKAGES = ["os", "os/exec", "os/signal", "os/user", "syscall", "sync", "context", "plugin", "net", "runtime/cgo",
            "time", "io/fs", "path/filepath"]


def tests(wanted):
    cache = os.path.join(os.environ.get("HOME", "/"), ".cache", "go-build")
    env = dict(os.environ, GOFLAGS="", CGO_ENABLED="1", GOCACHE=cache, GOTOOLCHAIN="local", GOPROXY="off")
    root = subprocess.run(["go", "env", "GOROOT"], env=env, stdout=subprocess.PIPE, check=True).stdout.decode().strip()
    for package in PACKAGES:
        if not program.is_wanted(package, wanted):
            continue
        binary = os.path.abspath(package.replace("/", "-") + ".test")
        folder = os.path.join(root, "src", package)
        built = program.outcome_of(["go", "test", "-c", "-ldflags=-linkmode=external", "-o", binary, package],
                                   lambda text: "", env=env)
        yield package + ".build", built
        if not os.path.exists(binary):
            continue
        done = subprocess.run([binary, "-test.v", "-test.short", "-test.timeout=200s"], cwd=folder, env=env,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        for outcome, test in re.findall(r"^ *--- (PASS|FAIL|SKIP): (\S+)", done.stdout.decode("utf-8", "replace"), re.M):
            yield "%s.%s" % (package, test), outcome
        yield package + ".exit", str(done.returncode)


program.run({"golang-go": "go"}, tests)
