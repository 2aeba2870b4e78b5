#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a program wants that is not simulated is told by name at its end, and in the report: a function that no simulated
library has, a CUDA runtime that is linked into a library. And programs see files of devices where they look for them."""

import json
import os
import re
import sys
import zipfile

from harness import ROOT, SIMGPU, case, check, check_equal, check_says, main, needs_exec, needs_program

# A libcudart that has more than the simulated one, only to link with.
RUNTIME = "int cudaFrobnicate(int a) { return a; }\nint cudaMalloc(void **p, unsigned long n) { return !p || !n; }\n"
USER = ("int cudaFrobnicate(int);\nint cudaMalloc(void **, unsigned long);\n"
        "int frob(void) { void *p; return cudaMalloc(&p, 1 << 20) ? -1 : cudaFrobnicate(1); }\n")
# What a CUDA runtime does that is linked statically.
STATIC = ("#include <dlfcn.h>\n"
          "int start(void)\n{\n\tconst char id[16] = \"private\";\n\tvoid *driver = dlopen(\"libcuda.so.1\", RTLD_NOW), *table;\n"
          "\tint (*ask)(void **, const void *) = (int (*)(void **, const void *))dlsym(driver, \"cuGetExportTable\");\n"
          "\tint (*init)(int) = (int (*)(int))dlsym(driver, \"cuInit\");\n\treturn init(0) ? -1 : ask(&table, id);\n}\n")


def write(box, name, text):
    with open(box.path(name), "w", encoding="utf-8") as file:
        file.write(text)
    return box.path(name)


def build(box, out, text, *flags):
    needs_program("gcc")
    done = box.run(["gcc", "-shared", "-fPIC", "-o", box.path(out), write(box, out + ".c", text), *flags, "-ldl"])
    check_equal(done.code, 0, done)


def build_user(box):
    """libuser.so, which wants a function that the simulated runtime has not."""
    os.mkdir(box.path("own"))
    build(box, "own/libcudart.so.13", RUNTIME, "-Wl,-soname,libcudart.so.13",
          "-Wl,--version-script," + write(box, "map", "libcudart.so.13 { global: *; };\n"))
    build(box, "libuser.so", USER, "-Wl,-z,lazy", box.path("own/libcudart.so.13"))


@case
def a_wheel_that_wants_what_is_not_there(box):
    """tools/wheel-imports.py names it before anything runs."""
    build_user(box)
    tool = os.path.join(ROOT, "tools", "wheel-imports.py")
    # Of both kinds one that is there and one that is not: with a version node, and of a library that has none.
    build(box, "libmore.so", "int ncclGetVersion(int *), ncclFrobnicate(void);\nint more(void) { return ncclGetVersion(0) + ncclFrobnicate(); }\n")
    build(box, "libfine.so", "int ncclGetVersion(int *);\nint fine(void) { return ncclGetVersion(0); }\n")
    for name, libraries in ("fine-1.0-py3", ("libfine.so",)), ("wants-2.0-py3", ("libuser.so", "libmore.so", "libfine.so")):
        with zipfile.ZipFile(box.path(name + ".whl"), "w") as wheel:
            for library in libraries:
                wheel.write(box.path(library), "package/lib/" + library)
    done = box.run([sys.executable, "-B", tool, SIMGPU, box.path("fine-1.0-py3.whl"), box.path("wants-2.0-py3.whl")])
    check_equal((done.code, done.out.splitlines()[2:]),
                (1, ["| fine-1.0 | 1 |  | none |", "| wants-2.0 | 4 | libcudart.so.13 | cudaFrobnicate@libcudart.so.13, ncclFrobnicate |"]), done)


def python(box, text, exit_code=0):
    """Runs a program in Python on a simulated GPU: how it ended, and the sentences of its report."""
    needs_exec()
    write(box, "program.py", text)
    done = box.record([sys.executable, "-B", "program.py"], exit_code=exit_code)
    report = json.loads(box.tare("report", box.path("rec.tare"), "--json").out)
    return done, report["degraded"]


def same_sentence(done, degraded, sentence):
    check_equal([s for s in degraded if sentence in s][:1], degraded[:1], done)
    check_equal(len(degraded), 1, degraded)
    check_says(done.err, "tare: " + degraded[0])
    check(re.fullmatch(r"(tare: [^\n]*\n)*", done.err), "the program's own stderr", done)


@case
def a_library_that_cannot_be_linked(box):
    build_user(box)
    done, degraded = python(box, "import ctypes\ntry:\n    ctypes.CDLL('./libuser.so')\nexcept OSError as error:\n    print(error)\n")
    check_says(done.out, "undefined symbol: cudaFrobnicate, version libcudart.so.13")
    same_sentence(done, degraded,
                  "libuser.so cannot be loaded, for the simulated libraries have no cudaFrobnicate (program.py:3)")


@case
def a_function_that_is_called_and_not_there(box):
    """Where it is linked lazily, the call fails and the program goes on."""
    build_user(box)
    done, degraded = python(box, "import ctypes, os\nlib = ctypes.PyDLL('./libuser.so', mode=os.RTLD_LAZY)\n"
                                 "ctypes.CDLL('libcudart.so.13')\nprint(lib.frob())\n")
    check_equal(done.out, "801\n")
    same_sentence(done, degraded,
                  "libuser.so called cudaFrobnicate, which the simulated libraries do not have: the call failed "
                  "(program.py:4)")


@case
def a_program_of_c_that_calls_it(box):
    """What a program is linked with itself is seen before it begins."""
    needs_exec()
    build_user(box)
    source = write(box, "main.c", "#include <stdio.h>\nint frob(void);\nint main(void)\n{\n\tprintf(\"%d\\n\", frob());\n}\n")
    done = box.run(["gcc", "-Wl,-z,lazy", "-o", box.path("main"), source, box.path("libuser.so"), "-Wl,--allow-shlib-undefined"])
    check_equal(done.code, 0, done)
    done = box.record([box.path("main")])
    check_equal(done.out, "801\n", done)
    check_says(done.err, "tare: libuser.so called cudaFrobnicate")


# Libraries that have no version nodes: the driver and NCCL.
BARE = {"libcuda.so.1": "int cuInit(unsigned a) { return a; }\nint cuFrobnicate(void) { return 0; }\n",
        "libnccl.so.2": "int ncclGetVersion(int *a) { return !a; }\nint ncclFrobnicate(void) { return 0; }\n"}
CALLS = ("#include <stdio.h>\nint cuInit(unsigned), cuFrobnicate(void), ncclGetVersion(int *), ncclFrobnicate(void), cuMine(void);\n"
         "int main(void)\n{\n\tint v;\n\tprintf(\"%d %d\\n\", cuInit(0), ncclGetVersion(&v));\n"
         "\tprintf(\"%d %d %d\\n\", cuFrobnicate(), ncclFrobnicate(), cuMine());\n}\n")


@case
def names_without_a_version(box):
    """As above; a name that another library of the program has is that one's, also one of an old linker's."""
    needs_exec()
    os.mkdir(box.path("own"))
    for name, text in BARE.items():
        build(box, "own/" + name, text, "-Wl,-soname," + name)
    build(box, "libmine.so", "int cuMine(void) { return 4; }\n", "-Wl,--hash-style=sysv")
    source = write(box, "main.c", CALLS)
    done = box.run(["gcc", "-Wl,-z,lazy", "-Wl,-rpath," + box.path(""), "-o", box.path("main"), source, box.path("own/libcuda.so.1"),
                    box.path("own/libnccl.so.2"), box.path("libmine.so")])
    check_equal(done.code, 0, done)
    done = box.record([box.path("main")])
    check_equal(done.out, "0 0\n801 5 4\n", done)
    check_says(done.err, "tare: main called cuFrobnicate", "tare: main called ncclFrobnicate")


@case
def a_runtime_inside(box):
    build(box, "libinside.so", STATIC)
    done, degraded = python(box, "import ctypes\nprint(ctypes.PyDLL('./libinside.so').start())\n")
    check_equal(done.out, "500\n")
    same_sentence(done, degraded, "libinside.so has NVIDIA's CUDA runtime inside, which asks the driver for private tables; the "
                  "simulated driver has none, so that runtime fails; built with nvcc -cudart shared "
                  "(CMAKE_CUDA_RUNTIME_LIBRARY=Shared) it can be simulated (program.py:2)")


@case
def libraries_that_go_on_without_are_not_told(box):
    build(box, "libnvrtc.so.13", STATIC)
    done, degraded = python(box, "import ctypes\nprint(ctypes.PyDLL('./libnvrtc.so.13').start())\n")
    check_equal((done.out, degraded), ("500\n", []))


@case
def names_that_are_looked_for(box):
    """Programs look for names to see what there is; it is told where one of them failed."""
    text = "import ctypes\nlib = ctypes.CDLL('libcudart.so.13')\nprint(hasattr(lib, 'cudaFrobnicate'))\nraise SystemExit(%d)\n"
    done, degraded = python(box, text % 0)
    check_equal((done.out, degraded), ("False\n", []))
    done = box.record([sys.executable, "-B", write(box, "fails.py", text % 3)], rec="fails.tare", exit_code=3)
    check_says(done.err, "tare: the program failed; it had looked for names that the simulated libraries do not have: "
                         "cudaFrobnicate")
    # A library that looks for every name there is tells nothing.
    many = (text % 3).replace("print(", "[hasattr(lib, 'cudaName' + str(i)) for i in range(40)]\nprint(")
    done = box.record([sys.executable, "-B", write(box, "many.py", many)], rec="many.tare", exit_code=3)
    check("had looked for" not in done.err, done)


@case
def errors_of_the_linker_are_the_programs_own(box):
    """dlerror() says what it says without us, once."""
    text = ("import ctypes\nlibc = ctypes.CDLL(None)\nlibc.dlerror.restype = libc.dlopen.restype = ctypes.c_char_p\n"
            "for name in (b'libnone.so', b'./libuser.so'):\n"
            "    print(libc.dlopen(name, 2), libc.dlerror(), libc.dlerror())\n")
    build_user(box)
    needs_exec()
    program = write(box, "errors.py", text)
    done = box.record([sys.executable, "-B", program])
    check_equal(done.out.splitlines(), [
        "None b'libnone.so: cannot open shared object file: No such file or directory' None",
        "None b'./libuser.so: undefined symbol: cudaFrobnicate, version libcudart.so.13' None"], done)


@case
def a_runtime_by_its_full_version(box):
    """libcudart.so.13.0.96 by its path is the simulated libcudart.so.13, whatever lies there."""
    write(box, "libcudart.so.13.0.96", "not a library")
    done, _ = python(box, "import ctypes\nn = ctypes.c_int()\nlib = ctypes.CDLL('./libcudart.so.13.0.96')\n"
                          "print(lib.cudaGetDeviceCount(ctypes.byref(n)), n.value)\n")
    check_equal(done.out, "0 1\n", done)


@case
def a_driver_by_its_path(box):
    for name in ("libcuda.so.1", "libnvidia-ml.so.580.1"):
        write(box, name, "not a library")
    done, _ = python(box, "import ctypes\nn = ctypes.c_int()\nlib = ctypes.CDLL('./libcuda.so.1')\nprint(lib.cuInit(0), lib.cuDeviceGetCount(ctypes.byref(n)), n.value)\n"
                          "print(ctypes.CDLL('./libnvidia-ml.so.580.1').nvmlInit_v2())\n")
    check_equal(done.out, "0 0 1\n0\n", done)


# NVIDIA's runtime where there is no driver for it, and a program that is linked with it.
REAL = "int cudaGetDeviceCount(int *n) { *n = 0; return 35; }\n"
COUNT = ("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nint cudaGetDeviceCount(int *);\n"
         "int main(int argc, char **argv)\n{\n\tint n = -1, result = cudaGetDeviceCount(&n);\n\tconst char *preload = getenv(\"LD_PRELOAD\");\n"
         "\tprintf(\"%d %d %s %d%d %c\\n\", result, n, argv[argc - 1], preload && strstr(preload, \"cudart\"), !!getenv(\"TARE_SIM_AGAIN\"), getchar());\n"
         "\treturn 4;\n}\n")


@case
def a_runtime_that_the_linker_finds_first(box):
    """By an RPATH, which comes before LD_LIBRARY_PATH, or by that, as a script of the program sets it."""
    needs_exec()
    os.mkdir(box.path("own"))
    build(box, "own/libcudart.so.13", REAL, "-Wl,-soname,libcudart.so.13",
          "-Wl,--version-script," + write(box, "map", "libcudart.so.13 { global: *; };\n"))
    source, own = write(box, "main.c", COUNT), box.path("own")
    for name, *flags in ("main",), ("rpath", "-Wl,--disable-new-dtags,-rpath," + own):
        done = box.run(["gcc", "-o", box.path(name), source, own + "/libcudart.so.13", *flags])
        check_equal(done.code, 0, done)
    for i, command in enumerate(((box.path("rpath"),), ("sh", "-c", 'LD_LIBRARY_PATH=%s:$LD_LIBRARY_PATH exec "$0" "$@"' % own, box.path("main")), (
            "sh", "-c", 'LD_LIBRARY_PATH=%s "$0" "$@"' % own, box.path("main")))):
        recording = "rec%d.tare" % i
        done = box.record([*command, "a word"], rec=recording, exit_code=4, input=b"x\n")
        check_equal(done.out, "0 1 a word 00 x\n", done)
        check("CUDA runtime" not in str(json.loads(box.tare("report", box.path(recording), "--json").out)["degraded"]), done)


@case
def a_program_that_runs_already_is_not_begun_again(box):
    needs_exec()
    os.mkdir(box.path("own"))
    build(box, "own/libcudart.so.13", REAL, "-Wl,-soname,libcudart.so.13")
    build(box, "libnone.so", "int none;\n")
    script = "import ctypes\nprint('begun')\nfor path in %r:\n    ctypes.CDLL(path)\n" % (
        [box.path("own/libcudart.so.13"), os.path.join(SIMGPU, "libs", "libtare_sim.so")],)
    done = box.run([sys.executable, "-uB", write(box, "program.py", script)], env={"LD_PRELOAD": box.path("libnone.so")})
    check_equal((done.code, done.out), (0, "begun\n"), done)


@case
def a_runtime_without_a_version(box):
    """libcudart.so is what it is a link to, and the newest where it is none."""
    write(box, "libcudart.so.12.4.127", "not a library")
    os.symlink("libcudart.so.12.4.127", box.path("libcudart.so"))
    done, _ = python(box, "import ctypes\nn = ctypes.c_int()\nfor name in ('./libcudart.so', 'libcudart.so'):\n"
                          "    ctypes.CDLL(name).cudaRuntimeGetVersion(ctypes.byref(n))\n    print(n.value // 1000)\n")
    check_equal(done.out, "12\n13\n", done)


# A libcudnn_graph that calls itself by a version, and answers for a card that has multiprocessors, as the real one does.
GRAPH = ("#include <stddef.h>\n#include <string.h>\n#define DOES(name) int name(void) { return 0; }\n"
         "DOES(cudnnBackendCreateDescriptor)\nDOES(cudnnBackendDestroyDescriptor)\nDOES(cudnnBackendFinalize)\n"
         "DOES(cudnnBackendGetAttribute)\nsize_t cudnnGetVersion(void) { return %d; }\n"
         "int cudnnBackendSetAttribute(void *d, int name, int type, long n, const char *v)\n"
         "{ return name == 2702 && strstr(v, \"\\\"multiProcessorCount\\\":0\"); }\n")
OPENER = """
import ctypes
for library in %r:
    ctypes.CDLL(library)
print(ctypes.CDLL("libcudnn.so.9").cudnnGetVersion())
"""


@case
def the_cudnn_of_the_package_before_the_systems(box):
    """A machine with a GPU often has a cuDNN in the folder of the C library; PyTorch does not run on that, but on the one of its packages."""
    for folder in "system", "site/torch/lib", "site/nvidia/cudnn/lib":
        os.makedirs(box.path(folder))
    for library in "system/libc.so", "site/torch/lib/libtorch.so":
        build(box, library, "int uses;\n")
    for folder, version in ("system", 91000), ("site/nvidia/cudnn/lib", 91900):
        build(box, folder + "/libcudnn_graph.so.9", GRAPH % version)
    needs_exec()
    for libraries, version in (("system/libc.so", "site/torch/lib/libtorch.so"), "91900"), (("system/libc.so",), "91000"):
        program = write(box, "program.py", OPENER % [box.path(library) for library in libraries])
        done = box.tare("record", "--quiet", "--sim", "h200", "-f", "-o", box.path("run.tare"), "--", sys.executable, "-B", program)
        check_equal((done.code, done.out.split()), (0, [version]), done)


VERSION_FIRST = """
import ctypes
cudnn, runtime, at = ctypes.CDLL("libcudnn.so.9"), ctypes.CDLL("libcudart.so.13"), ctypes.c_void_p()
print(cudnn.cudnnGetVersion())
assert runtime.cudaMalloc(ctypes.byref(at), ctypes.c_size_t(1 << 20)) == 0
assert cudnn.cudnnBackendCreateDescriptor(17, ctypes.byref(at)) == 0
"""


@case
def a_program_may_ask_for_the_version_first(box):
    """Before there is a device: the program's libcudnn is asked about the card when there is one."""
    build(box, "libcudnn_graph.so.9", GRAPH % 91900)
    needs_exec()
    done = box.tare("record", "--quiet", "--sim", "h200", "-f", "-o", box.path("run.tare"), "--", sys.executable, "-B",
                    write(box, "program.py", VERSION_FIRST), env={"TARE_SIM_CUDNN": box.path("libcudnn_graph.so.9"), "TARE_SIM_CALLS": box.path("calls")})
    check_equal((done.code, done.out.split()), (0, ["91900"]), done)
    with open(box.path("calls"), encoding="utf-8") as file:
        check_equal([line.split(" ", 1)[1].strip() for line in file if "libcudnn_graph" in line], ["libcudnn_graph answers without a device"])


@case
def files_of_devices(box):
    text = ("import os, stat\n"
            "for name in ('nvidia0', 'nvidia1', 'nvidia2', 'nvidiactl', 'nvidia-uvm', 'nvidia0x', 'null'):\n"
            "    path = '/dev/' + name\n"
            "    print(name, os.path.exists(path), os.access(path, os.R_OK | os.W_OK))\n"
            "st = os.stat('/dev/nvidia1')\nprint(stat.S_ISCHR(st.st_mode), os.major(st.st_rdev), os.minor(st.st_rdev))\n"
            "print(os.stat('/').st_ino > 0, os.lstat('/dev/null').st_rdev > 0)\n")
    needs_exec()
    done = box.record([sys.executable, "-B", write(box, "devices.py", text)], sim="h200:2")
    check_equal(done.out.splitlines(), [
        "nvidia0 True True", "nvidia1 True True", "nvidia2 False False", "nvidiactl True True", "nvidia-uvm True True",
        "nvidia0x False False", "null True True", "True 195 1", "True True"], done)


main()
