#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The simulated libraries above the simulated driver: which names they have and under which version, what their
handles hold on the device, what they keep, and what happens under capture. sim_libraries.py is the program that
uses them."""

import ast
import os
import re
import shutil
import subprocess
import sys

from harness import ROOT, SIMGPU, Skip, case, check, check_equal, main, needs_exec

LIBS = os.path.join(SIMGPU, "libs")
PROGRAM = os.path.join(ROOT, "tests", "e2e", "sim_libraries.py")
IMPORTS = os.path.join(ROOT, "tests", "data", "torch_2.11_imports.txt")
# A library, what its names begin with, and how many of them the public headers of CUDA 11.8 to 13 declare, or more.
NAMES = [
    ("libcublas.so.11", "cublas", 670), ("libcublas.so.12", "cublas", 670), ("libcublas.so.13", "cublas", 670),
    ("libcublasLt.so.11", "cublasLt", 49), ("libcublasLt.so.12", "cublasLt", 49), ("libcublasLt.so.13", "cublasLt", 49),
    ("libcusolver.so.11", "cusolver", 580), ("libcusolver.so.12", "cusolver", 580),
    ("libcusolverMg.so.11", "cusolverMg", 19), ("libcusolverMg.so.12", "cusolverMg", 19),
    ("libcusparse.so.11", "cusparse", 510), ("libcusparse.so.12", "cusparse", 510),
    ("libcusparseLt.so.0", "cusparseLt", 31),
    ("libcufft.so.10", "cufft", 56), ("libcufft.so.11", "cufft", 56), ("libcufft.so.12", "cufft", 56),
    ("libcufftw.so.10", "fftw", 70), ("libcufftw.so.11", "fftw", 70), ("libcufftw.so.12", "fftw", 70),
    ("libcurand.so.10", "curand", 29), ("libcufile.so.0", "cuFile", 50),
    ("libcupti.so.11.7", "cupti", 175), ("libcupti.so.11.8", "cupti", 175), ("libcupti.so.12", "cupti", 175), ("libcupti.so.13", "cupti", 175),
    ("libnvshmem_host.so.3", "nvshmem", 1400),
]
NODES = {"libnvshmem_host.so.3": "NVSHMEM", "libcusparseLt.so.0": "", "libcufile.so.0": ""}


def exported(soname):
    """{name: version node} of the functions and variables that a simulated library exports."""
    if not shutil.which("readelf"):
        raise Skip("no readelf")
    text = subprocess.run(["readelf", "--dyn-syms", "--wide", os.path.join(LIBS, soname)], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    found = re.findall(r"(?:FUNC|OBJECT) +GLOBAL +DEFAULT +(?!UND)\d+ (\w+)(?:@@?([\w.]+))?$", text, re.M)
    return dict(found)


def wanted_by_torch():
    """(library, node, names) as the file of names has them."""
    with open(IMPORTS, encoding="utf-8") as file:
        text = re.sub(r"^#.*\n", "", file.read(), flags=re.M)
    for head, names in re.findall(r"^(\S+ \S+):\n((?:  .*\n)+)", text, re.M):
        soname, node = head.split()
        yield soname, "" if node == "-" else node, names.split()


@case
def what_pytorch_imports_is_there(box):
    count = 0
    for soname, node, names in wanted_by_torch():
        have = exported(soname)
        missing = [name for name in names if have.get(name) != node]
        check(not missing, "%s has not, or not under version %r:" % (soname, node), missing)
        count += len(names)
    check(count > 680, count)


@case
def what_another_pytorch_imports_is_there(box):
    """What tools/wheel-imports.py found to be missing, of PyTorch 2.15.0."""
    check_equal(exported("libnvshmem_host.so.3").get("nvshmem_selected_device_transport"), "NVSHMEM")


@case
def what_the_headers_declare_is_there(box):
    for soname, prefix, least in NAMES:
        have = exported(soname)
        check(len(have) >= least, soname, len(have))
        check(all(name.startswith(prefix) for name in have), soname, [n for n in have if not n.startswith(prefix)])
        check_equal(set(have.values()), {NODES.get(soname, soname)}, soname)


def result_of(box, name, *args):
    """What a function of the program prints, as a value of Python."""
    needs_exec()
    done = box.run([sys.executable, "-B", PROGRAM, name, *args], sim=True, env={"LD_LIBRARY_PATH": SIMGPU + ":" + LIBS})
    check_equal(done.code, 0, done)
    return ast.literal_eval(done.out.splitlines()[-1])


@case
def handles_hold_what_was_measured(box):
    # MiB that a handle adds, in pages of 2 MiB, and what is left when it has ended (docs/measurements/simulated.md).
    for name, held in [("cublas", 66), ("cusolver", 32 + 66), ("cusparse", 0), ("curand", 0), ("curand_mtgp32", 6),
                       ("curand_mt19937", 60), ("cublasLt", 2)]:
        check_equal(result_of(box, "held", name), (held, 0), name)


@case
def plans_hold_their_work(box):
    works, weights, left, given = result_of(box, "plans")
    check_equal(works, [0, 8 << 20, 32400000, 32 << 20])
    check_equal(weights, [8, 16, 16 + 32 + 32])  # the library's own, a work, a work and tables of a prime
    check_equal((left, given), (8, 0))


@case
def wrong_arguments_are_errors(box):
    # NULL for each argument: an error or success, and no crash; without its handle, no work is done.
    for library in ("cublas", "cublasLt", "cusolver", "cusparse", "cusparseLt", "curand", "cufft", "cufile", "cupti"):
        check_equal(result_of(box, "nulls", library), "alive", library)
    check(all(result_of(box, "without_handles")), "a function without its handle succeeded")


@case
def captured_work_is_a_node(box):
    check_equal(result_of(box, "captured"), {"cublas": 1, "cublasLt": 1, "cusolver": 1, "cusparse": 1, "cufft": 1,
                                            "curand": 1, "setting": 0})


@case
def work_is_not_done_at_once(box):
    # As on an H200, "not ready" is no error: the runtime does not keep it.
    check_equal(result_of(box, "pending"), [600, 0, 600, 0])


@case
def settings_are_told(box):
    for got, wanted in result_of(box, "settings"):
        check_equal(got, wanted)


@case
def descriptors_tell_what_they_were_made_with(box):
    for what, got, wanted in result_of(box, "descriptors"):
        check_equal(got, wanted, what)


@case
def versions_are_told(box):
    check_equal(result_of(box, "versions"), {"cublas": 130100, "cublasLt": 130100, "cusolver": 12004, "cusparse": 12603,
                                            "cufft": 12000, "curand": 10400, "cupti": 130001})


@case
def links_are_told_as_documented(box):
    # Generation and lanes of PCI Express; of a card on the chip of its host there is no link.
    for card, link in [("h200", [(0, 5), (0, 16)]), ("t4", [(0, 3), (0, 16)]), ("orin", [(3, 0), (3, 0)])]:
        check_equal(result_of(box, "links", card), link, card)


@case
def a_card_says_what_it_is_and_that_nothing_runs(box):
    for card, architecture in ("h200", 9), ("t4", 6), ("v100-16", 5), ("l4", 8), ("orin", 7), ("gb10", 10), ("b200", 10):
        check_equal(result_of(box, "doing", card), ((1, 1), architecture, [0, 0]), card)


@case
def files_are_read_to_the_device_and_back(box):
    data = bytes(range(256)) * 5000 + b"end"
    with open(box.path("in"), "wb") as file:
        file.write(data)
    check_equal(result_of(box, "files", box.path("in"), box.path("out")), (len(data), len(data)))
    with open(box.path("out"), "rb") as file:
        check_equal(file.read() == data, True)


main()
