#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What cuDNN takes for recurrent networks: workspace and reserve of cudnnGetRNNTempSpaceSizes, one line a configuration.

    tests/gpu/rnn_answers.py [LIBCUDNN] >answers.csv       a GPU; about 10 seconds

Columns: mode, layers, directions, input, hidden, projection, batch, length, type, math, dropout, padded, then bytes of
workspace to infer, of workspace to train, and of the reserve. Types are numbers of cudnnDataType_t. What PyTorch asks is
asked: the standard algorithm, two biases, 32-bit arithmetic, packed sequences or padded ones.
"""
import ctypes
import glob
import random
import sys

FLOAT, HALF, BF16 = 0, 2, 9
TENSOR_OP, DEFAULT, FMA = 1, 0, 3
INFER, TRAIN = 0, 1
MODES = ("relu", "tanh", "lstm", "gru")


def find_library():
    for folder in sys.path:
        found = glob.glob(folder + "/nvidia/cudnn/lib/libcudnn.so.9")
        if found:
            return found[0]
    return "libcudnn.so.9"


class Cudnn:
    """The library with a handle on the first device."""

    def __init__(self, path):
        runtime = glob.glob(path.split("/nvidia/")[0] + "/nvidia/*/lib/libcudart.so.1[23]")
        self.cuda = ctypes.CDLL(runtime[0] if runtime else "libcudart.so.13")
        self.lib, self.handle = ctypes.CDLL(path), ctypes.c_void_p()
        state = ctypes.c_void_p()
        self.check(self.lib.cudnnCreate(ctypes.byref(self.handle)))
        self.dropouts = {}
        for rate in (0.0, 0.5):
            about, size = ctypes.c_void_p(), ctypes.c_size_t()
            self.check(self.lib.cudnnCreateDropoutDescriptor(ctypes.byref(about)))
            self.check(self.lib.cudnnDropoutGetStatesSize(self.handle, ctypes.byref(size)))
            self.cuda.cudaMalloc(ctypes.byref(state), size)
            self.check(self.lib.cudnnSetDropoutDescriptor(about, self.handle, ctypes.c_float(rate), state, size,
                                                          ctypes.c_ulonglong(1)))
            self.dropouts[rate] = about

    @staticmethod
    def check(status):
        if status:
            raise ValueError(status)

    def sizes(self, mode, layers, directions, inputs, hidden, projection, batch, length, kind, math, dropout, padded):
        rnn, data = ctypes.c_void_p(), ctypes.c_void_p()
        self.check(self.lib.cudnnCreateRNNDescriptor(ctypes.byref(rnn)))
        self.check(self.lib.cudnnCreateRNNDataDescriptor(ctypes.byref(data)))
        try:
            self.check(self.lib.cudnnSetRNNDescriptor_v8(
                rnn, 0, mode, 2, directions - 1, 0, kind, FLOAT, math, inputs, hidden, projection or hidden, layers,
                self.dropouts[dropout], 1 if padded else 0))
            lengths = (ctypes.c_int * batch)(*[length] * batch)
            fill = ctypes.c_double(0)
            self.check(self.lib.cudnnSetRNNDataDescriptor(data, kind, 0 if padded else 1, length, batch, inputs, lengths,
                                                          ctypes.byref(fill)))
            found = []
            for when in (INFER, TRAIN):
                work, reserve = ctypes.c_size_t(), ctypes.c_size_t()
                self.check(self.lib.cudnnGetRNNTempSpaceSizes(self.handle, rnn, when, data, ctypes.byref(work),
                                                              ctypes.byref(reserve)))
                found.append((work.value, reserve.value))
            return found[0][0], found[1][0], found[1][1]
        finally:
            self.lib.cudnnDestroyRNNDescriptor(rnn)
            self.lib.cudnnDestroyRNNDataDescriptor(data)


def configurations():
    """One thing changed at a time around three networks; then some by chance, the same each time."""
    bases = ((2, 1, 1, 64, 64, 0, 8, 16, FLOAT, DEFAULT, 0.0, False), (2, 3, 2, 256, 512, 0, 32, 200, FLOAT, DEFAULT, 0.0, False),
             (3, 2, 1, 100, 300, 0, 20, 35, HALF, TENSOR_OP, 0.5, True))
    choices = ((0, 1, 2, 3), (1, 2, 3, 4), (1, 2), (1, 32, 64, 100, 128, 256, 257, 512), (1, 32, 64, 100, 128, 256, 300, 512, 1024),
               (0,), (1, 2, 7, 8, 16, 20, 32, 64, 128), (1, 2, 5, 16, 35, 50, 100, 200, 400), (FLOAT, HALF, BF16),
               (DEFAULT, TENSOR_OP, FMA), (0.0, 0.5), (False, True))
    for base in bases:
        yield base
        for at, values in enumerate(choices):
            for value in values:
                yield base[:at] + (value,) + base[at + 1:]
    for hidden, projection in ((64, 32), (512, 128), (300, 100)):
        for base in bases:
            yield (2,) + base[1:4] + (hidden, projection) + base[6:]
    dice = random.Random(1)
    for _ in range(2500):
        yield tuple(dice.choice(values) for values in choices)


def main():
    dnn = Cudnn(sys.argv[1] if len(sys.argv) > 1 else find_library())
    print("# cuDNN %d" % dnn.lib.cudnnGetVersion())
    print("mode,layers,directions,input,hidden,projection,batch,length,type,math,dropout,padded,infer,train,reserve")
    for about in dict.fromkeys(configurations()):
        try:
            found = dnn.sizes(*about)
        except ValueError as error:
            found = ("error %s" % error, "", "")
        print(",".join(str(value) for value in (MODES[about[0]],) + about[1:-1] + (int(about[-1]),) + found))


if __name__ == "__main__":
    main()
