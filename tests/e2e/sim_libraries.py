#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program that uses the simulated libraries as PyTorch does, by their C interfaces: t_sim_libraries.py starts it with
the name of a function, and reads what that prints last."""

import ctypes
import os
import re
import subprocess
import sys
from ctypes import byref, c_int, c_int64, c_size_t, c_void_p

cuda = ctypes.CDLL("libcuda.so.1")
SONAMES = {"cublas": "libcublas.so.13", "cublasLt": "libcublasLt.so.13", "cusolver": "libcusolver.so.12",
           "cusparse": "libcusparse.so.12", "cufft": "libcufft.so.12", "curand": "libcurand.so.10",
           "cupti": "libcupti.so.13", "cufile": "libcufile.so.0", "cusparseLt": "libcusparseLt.so.0"}


def library(name):
    return ctypes.CDLL(SONAMES[name])


def begin():
    context = c_void_p()
    done(cuda.cuInit(0))
    done(cuda.cuDevicePrimaryCtxRetain(byref(context), 0))
    done(cuda.cuCtxSetCurrent(context))


def done(result):
    if result:
        raise SystemExit("a call failed with %d" % result)


def weighed():
    """MiB of the device that are in use."""
    free, total = c_size_t(), c_size_t()
    done(cuda.cuMemGetInfo_v2(byref(free), byref(total)))
    return (total.value - free.value) // (1 << 20)


def made(name):
    """A handle of a library, and the function that ends it."""
    handle = c_void_p()
    lib = library(name.split("_")[0])
    if name.startswith("curand"):
        kind = {"curand_mtgp32": 141, "curand_mt19937": 142}.get(name, 101)
        done(lib.curandCreateGenerator(byref(handle), kind))
        return handle, lib.curandDestroyGenerator
    create, destroy = {
        "cublas": ("cublasCreate_v2", "cublasDestroy_v2"),
        "cublasLt": ("cublasLtCreate", "cublasLtDestroy"),
        "cusolver": ("cusolverDnCreate", "cusolverDnDestroy"),
        "cusparse": ("cusparseCreate", "cusparseDestroy"),
    }[name]
    done(getattr(lib, create)(byref(handle)))
    return handle, getattr(lib, destroy)


def held(name):
    before = weighed()
    handle, end = made(name)
    there = weighed()
    done(end(handle))
    return there - before, weighed() - before


def plans():
    """What a first plan of cuFFT adds; works of three; what two of these add; what is left when all have ended."""
    lib = library("cufft")
    before = weighed()
    numbers, works, weights = [], [], []
    for n in (1024, 1 << 20, 1000003):
        number, work = c_int(), c_size_t()
        done(lib.cufftPlan1d(byref(number), n, 0x29, 1))
        done(lib.cufftGetSize(number, byref(work)))
        numbers.append(number)
        works.append(work.value)
        weights.append(weighed() - before)
    for number in numbers:
        done(lib.cufftDestroy(number))
    # A plan whose work the program gives takes none.
    number, work = c_int(), c_size_t()
    done(lib.cufftCreate(byref(number)))
    done(lib.cufftSetAutoAllocation(number, 0))
    there = weighed()
    done(lib.cufftMakePlan1d(number, 1 << 22, 0x29, 1, byref(work)))
    return works + [work.value], weights, weighed() - before, weighed() - there


def names_of(name):
    folder = os.environ["LD_LIBRARY_PATH"].split(":")[1]
    text = subprocess.run(["readelf", "--dyn-syms", "--wide", os.path.join(folder, SONAMES[name])], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    return sorted(re.findall(r"FUNC +GLOBAL +DEFAULT +(?!UND)\d+ (\w+)", text))


def nulls(name):
    """Calls each function of a library with nothing but NULL."""
    lib = library(name)
    for function in names_of(name):
        getattr(lib, function)(*[c_void_p()] * 24)
    return "alive"


def without_handles():
    """Results of work that is given no handle."""
    cublas, cusolver, cusparse = library("cublas"), library("cusolver"), library("cusparse")
    none = [c_void_p()] * 16
    return [cublas.cublasSgemm_v2(*none), cublas.cublasGemmEx(*none), cublas.cublasSdot_v2(*none),
            cublas.cublasSetStream_v2(*none), cublas.cublasCreate_v2(*none), cusolver.cusolverDnSpotrf(*none),
            cusparse.cusparseSpMM(*none), library("curand").curandGenerateUniform(*none),
            library("cufft").cufftExecC2C(7, None, None, 1), library("cublasLt").cublasLtMatmulAlgoGetHeuristic(*none)]


def nodes_of(work):
    """How many nodes a graph has in which the stream that `work` is given was captured."""
    stream, graph, count = c_void_p(), c_void_p(), c_size_t()
    done(cuda.cuStreamCreate(byref(stream), 1))
    call = work(stream)
    done(cuda.cuStreamBeginCapture_v2(stream, 0))
    done(call())
    done(cuda.cuStreamEndCapture(stream, byref(graph)))
    done(cuda.cuGraphGetNodes(graph, None, byref(count)))
    return count.value


def on_stream(name, set_stream, work):
    def prepare(stream):
        handle, _ = made(name)
        done(getattr(library(name), set_stream)(handle, stream))
        return lambda: work(library(name), handle)
    return prepare


def cufft_work(stream):
    lib, number = library("cufft"), c_int()
    done(lib.cufftPlan1d(byref(number), 1024, 0x29, 1))
    done(lib.cufftSetStream(number, stream))
    return lambda: lib.cufftExecC2C(number, None, None, 1)


def cublaslt_work(stream):
    lib = library("cublasLt")
    return lambda: lib.cublasLtMatmul(*[c_void_p(1)] * 15, stream)


def captured():
    none = [c_void_p()] * 12
    return {
        "cublas": nodes_of(on_stream("cublas", "cublasSetStream_v2", lambda lib, h: lib.cublasSgemm_v2(h, *none))),
        "cusolver": nodes_of(on_stream("cusolver", "cusolverDnSetStream", lambda lib, h: lib.cusolverDnSpotrf(h, *none))),
        "cusparse": nodes_of(on_stream("cusparse", "cusparseSetStream", lambda lib, h: lib.cusparseSpMM(h, *none))),
        "curand": nodes_of(on_stream("curand", "curandSetStream", lambda lib, h: lib.curandGenerate(h, c_void_p(8), 4))),
        "cublasLt": nodes_of(cublaslt_work),
        "cufft": nodes_of(cufft_work),
        "setting": nodes_of(on_stream("cublas", "cublasSetStream_v2", lambda lib, h: lib.cublasSetMathMode(h, 1))),
    }


def pending():
    """What a stream answers behind work of cuBLAS, twice; then the runtime's answer of an event, and its last error."""
    stream, event, none = c_void_p(), c_void_p(), [c_void_p()] * 12
    done(cuda.cuStreamCreate(byref(stream), 0))
    lib, handle = library("cublas"), made("cublas")[0]
    done(lib.cublasSetStream_v2(handle, stream))
    done(lib.cublasSgemm_v2(handle, *none))
    answers = [cuda.cuStreamQuery(stream), cuda.cuStreamQuery(stream)]
    runtime = ctypes.CDLL("libcudart.so.13")
    done(runtime.cudaEventCreate(byref(event)))
    done(lib.cublasSgemm_v2(handle, *none))
    done(runtime.cudaEventRecord(event, stream))
    return answers + [runtime.cudaEventQuery(event), runtime.cudaPeekAtLastError()]


def settings():
    """(told, set) pairs."""
    pairs = []
    cublas, handle = library("cublas"), made("cublas")[0]
    for name in ("MathMode%s", "AtomicsMode%s", "PointerMode%s_v2", "SmCountTarget%s"):
        name, told = name.replace("%s", ""), c_int(-1)
        done(getattr(cublas, "cublasSet" + name)(handle, 1))
        done(getattr(cublas, "cublasGet" + name)(handle, byref(told)))
        pairs.append((told.value, 1))
    stream, told = c_void_p(0x1230), c_void_p()
    done(cublas.cublasSetStream_v2(handle, stream))
    done(cublas.cublasGetStream_v2(handle, byref(told)))
    pairs.append((told.value, stream.value))
    # A result on the host is written, one on the device is not touched.
    told = c_int(77)
    done(cublas.cublasIsamax_v2(handle, 1, None, 1, byref(told)))
    pairs.append((told.value, 77))
    done(cublas.cublasSetPointerMode_v2(handle, 0))
    done(cublas.cublasIsamax_v2(handle, 1, None, 1, byref(told)))
    pairs.append((told.value, 1))
    # cuBLASLt: attributes of descriptors, sizes of them, and those that are not there.
    lt, matmul, told, size = library("cublasLt"), c_void_p(), c_int(), c_size_t()
    done(lt.cublasLtMatmulDescCreate(byref(matmul), 68, 0))
    done(lt.cublasLtMatmulDescGetAttribute(matmul, 0, byref(told), 4, byref(size)))
    pairs.append(((told.value, size.value), (68, 4)))
    bias = c_int64(0x123456789)
    done(lt.cublasLtMatmulDescSetAttribute(matmul, 8, byref(bias), 8))
    back = c_int64()
    done(lt.cublasLtMatmulDescGetAttribute(matmul, 8, byref(back), 8, None))
    pairs.append((back.value, bias.value))
    pairs.append((lt.cublasLtMatmulDescSetAttribute(matmul, 8, byref(bias), 4), 7))
    pairs.append((lt.cublasLtMatmulDescSetAttribute(matmul, 999, byref(bias), 8), 7))
    layout = (c_int64 * 9)(*[-1] * 9)  # in the program's own bytes, of which there are 64
    done(lt.cublasLtMatrixLayoutInit_internal(layout, c_size_t(64), 0, c_int64(3), c_int64(4), c_int64(5)))
    shape = []
    for attribute in (2, 3, 4):
        done(lt.cublasLtMatrixLayoutGetAttribute(layout, attribute, byref(back), 8, None))
        shape.append(back.value)
    pairs.append(((shape, layout[8]), ([3, 4, 5], -1)))
    handle, count, found = made("cublasLt")[0], c_int(), (c_int64 * 13)(*[-1] * 13)
    done(lt.cublasLtMatmulAlgoGetHeuristic(handle, matmul, layout, layout, layout, layout, None, 1, found, byref(count)))
    pairs.append(((count.value, found[8], found[9] & 0xffffffff, found[12]), (1, 0, 0, -1)))
    done(lt.cublasLtMatmulDescDestroy(matmul))
    return pairs


def descriptors():
    """(what, told, made with)."""
    lib, matrix, vector = library("cusparse"), c_void_p(), c_void_p()
    rows = []
    sizes = [c_int64() for _ in range(3)]
    done(lib.cusparseCreateCsr(byref(matrix), c_int64(10), c_int64(20), c_int64(30), c_void_p(0x1000), c_void_p(0x2000),
                               c_void_p(0x3000), 2, 2, 0, 0))
    done(lib.cusparseSpMatGetSize(matrix, *[byref(s) for s in sizes]))
    rows.append(("sizes", [s.value for s in sizes], [10, 20, 30]))
    told = [c_int64() for _ in range(6)] + [c_int(-1) for _ in range(4)]
    done(lib.cusparseCsrGet(matrix, *[byref(t) for t in told]))
    rows.append(("csr", [t.value for t in told], [10, 20, 30, 0x1000, 0x2000, 0x3000, 2, 2, 0, 0]))
    value, kind = c_void_p(), c_int()
    done(lib.cusparseCsrSetPointers(matrix, c_void_p(0x4000), c_void_p(0x5000), c_void_p(0x6000)))
    done(lib.cusparseSpMatGetValues(matrix, byref(value)))
    done(lib.cusparseSpMatGetFormat(matrix, byref(kind)))
    rows.append(("values", (value.value, kind.value), (0x6000, 1)))
    fill = c_int(1)
    done(lib.cusparseSpMatSetAttribute(matrix, 0, byref(fill), c_size_t(4)))
    fill = c_int(0)
    done(lib.cusparseSpMatGetAttribute(matrix, 0, byref(fill), c_size_t(4)))
    rows.append(("fill", fill.value, 1))
    done(lib.cusparseDestroySpMat(matrix))
    done(lib.cusparseCreateBsr(byref(matrix), c_int64(5), c_int64(6), c_int64(7), c_int64(2), c_int64(3), None, None,
                               c_void_p(0x7000), 2, 2, 0, 0, 1))
    done(lib.cusparseSpMatGetSize(matrix, *[byref(s) for s in sizes]))
    rows.append(("blocks", [s.value for s in sizes], [10, 18, 42]))
    size = c_int64()
    done(lib.cusparseCreateDnVec(byref(vector), c_int64(9), c_void_p(0x8000), 1))
    done(lib.cusparseDnVecSetValues(vector, c_void_p(0x9000)))
    done(lib.cusparseDnVecGet(vector, byref(size), byref(value), byref(kind)))
    rows.append(("vector", (size.value, value.value, kind.value), (9, 0x9000, 1)))
    rows.append(("no matrix", lib.cusparseSpMatGetValues(vector, byref(value)), 3))
    return rows


def versions():
    told, out = c_int(), {}
    for name, function, args in [("cublas", "cublasGetVersion_v2", (None,)), ("cusolver", "cusolverGetVersion", ()),
                                 ("cusparse", "cusparseGetVersion", (made("cusparse")[0],)),
                                 ("cufft", "cufftGetVersion", ()), ("curand", "curandGetVersion", ()),
                                 ("cupti", "cuptiGetVersion", ())]:
        done(getattr(library(name), function)(*args, byref(told)))
        out[name] = told.value
    out["cublasLt"] = library("cublasLt").cublasLtGetVersion()
    return out


def links(card):
    os.environ["TARE_SIM_PROFILE"] = card
    nvml, device, told = ctypes.CDLL("libnvidia-ml.so.1"), c_void_p(), [c_int(), c_int()]
    done(nvml.nvmlInit_v2())
    done(nvml.nvmlDeviceGetHandleByIndex_v2(0, byref(device)))
    functions = (nvml.nvmlDeviceGetMaxPcieLinkGeneration, nvml.nvmlDeviceGetCurrPcieLinkWidth)
    return [(function(device, byref(value)), value.value) for function, value in zip(functions, told)]


def doing(card):
    """Its architecture, and how busy it and its memory are."""
    os.environ["TARE_SIM_PROFILE"] = card
    nvml, device, told, rates = ctypes.CDLL("libnvidia-ml.so.1"), c_void_p(), c_int(), (c_int * 2)(9, 9)
    before = nvml.nvmlDeviceGetArchitecture(device, byref(told)), nvml.nvmlDeviceGetUtilizationRates(device, rates)
    done(nvml.nvmlInit_v2())
    done(nvml.nvmlDeviceGetHandleByIndex_v2(0, byref(device)))
    done(nvml.nvmlDeviceGetArchitecture(device, byref(told)))
    done(nvml.nvmlDeviceGetUtilizationRates(device, rates))
    return before, told.value, list(rates)


class Description(ctypes.Structure):
    _fields_ = [("type", c_int), ("fd", c_int64), ("file_system", c_void_p)]


def files(source, target):
    """Reads a file to the device and writes it from there: how much of each."""
    lib, memory = library("cufile"), c_void_p()
    size = os.path.getsize(source)
    lib.cuFileRead.restype = lib.cuFileWrite.restype = ctypes.c_ssize_t
    done(cuda.cuMemAlloc_v2(byref(memory), c_size_t(size)))
    moved = []
    for path, flags, call in [(source, os.O_RDONLY, lib.cuFileRead), (target, os.O_RDWR | os.O_CREAT, lib.cuFileWrite)]:
        fd = os.open(path, flags, 0o600)
        handle = c_void_p()
        done(lib.cuFileHandleRegister(byref(handle), byref(Description(1, fd, None))))
        moved.append(call(handle, memory, c_size_t(size), c_int64(0), c_int64(0)))
        lib.cuFileHandleDeregister(handle)
        os.close(fd)
    return tuple(moved)


begin()
print(repr(globals()[sys.argv[1]](*sys.argv[2:])))
