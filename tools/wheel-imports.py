#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which functions of NVIDIA's libraries do wheels of pip import, and have the simulated libraries all of them?

    wheel-imports.py BUILD/simgpu WHEEL…       a Markdown table, a row a wheel; exit code 1: a name is not there
    pip download --no-deps -d FOLDER torch==2.4.1    gets a wheel; it need not be of this machine's Python

What is told is what a dynamic linker would say: undefined symbols of each shared library in the wheel, with the version node that each
asks for. A name without a node counts where NVIDIA's library has none; else the wheel was linked with a library that lacks the name, too.
Names that a program only looks up (dlsym) are not seen.
"""

import os
import re
import subprocess
import sys
import tempfile
import zipfile

# Nodes of libraries that are simulated (NVRTC, nvJitLink and NVTX need no card, and are the program's own), and what names of those begin
# with that have no nodes.
NODES = re.compile(r"lib(cudart|cublas|cublasLt|cudnn|cufft|cufftw|curand|cusolver|cusolverMg|cusparse|cupti)\.so\.|NVSHMEM$")
WITHOUT_NODE = re.compile(r"(nccl|nvml|cusparseLt|cuFile|cu)[A-Z]")


def nm(path, *options):
    """(name, version node or "") of the dynamic symbols of a library."""
    done = subprocess.run(["nm", "-D", "--with-symbol-versions", *options, path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, check=False)
    for line in done.stdout.splitlines():
        name, _, node = line.split()[-1].partition("@")
        yield name, node.lstrip("@")


def simulated(folder):
    """{(name, node)} of all that the simulated libraries export."""
    have = set()
    for top in folder, os.path.join(folder, "libs"):
        for name in os.listdir(top):
            if re.search(r"\.so\.[\d.]+$", name):
                have.update(nm(os.path.join(top, name), "--defined-only"))
    return have


def imports(wheel):
    """{(name, node)} that shared libraries of a wheel want and none of them defines."""
    wanted, own = set(), set()
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as folder:
        for member in archive.namelist():
            if not re.search(r"\.so(\.[\d.]+)?$", member):
                continue
            path = archive.extract(member, folder)
            wanted.update((name, node) for name, node in nm(path, "--undefined-only")
                          if (NODES.match(node) if node else WITHOUT_NODE.match(name)))
            own.update(name for name, _ in nm(path, "--defined-only"))
            os.remove(path)
    return {(name, node) for name, node in wanted if name not in own}


def missing(wanted, have):
    """A name without a node is bound to whichever library has it."""
    names = {name for name, _ in have}
    return sorted("%s@%s" % (name, node) if node else name for name, node in wanted
                  if (name, node) not in have and (node or name not in names))


def main():
    have, is_all_there = simulated(sys.argv[1]), True
    print("| wheel | names | of these libraries | not simulated |\n|---|---|---|---|")
    for wheel in sys.argv[2:]:
        wanted = imports(wheel)
        gone = missing(wanted, have)
        is_all_there &= not gone
        nodes = sorted({node for _, node in wanted if node})
        print("| %s | %d | %s | %s |" % ("-".join(os.path.basename(wheel).split("-")[:2]), len(wanted),
                                         ", ".join(nodes), ", ".join(gone) or "none"), flush=True)
    return 0 if is_all_there else 1


if __name__ == "__main__":
    sys.exit(main())
