# SPDX-License-Identifier: Apache-2.0
"""As much of PyTorch as a scan asks for, for interpreters that have none: addresses, no numbers.

Its tensors are made of Python, so a sweep over them runs bytecode; over those of PyTorch it does not.
"""
import sys
import types


class TensorBase(object):
    def __init__(self, at, requires_grad=False, offset=0):
        self.at, self.wants, self.offset, self.gradient = at, requires_grad, offset, None

    def data_ptr(self):
        return self.at + 4 * self.offset

    def storage_offset(self):
        return self.offset

    def element_size(self):
        return 4

    grad = property(lambda self: self.gradient)
    is_leaf = property(lambda self: True)
    requires_grad = property(lambda self: self.wants)


class Tensor(TensorBase):
    pass


class Parameter(Tensor):
    def __init__(self, at):
        Tensor.__init__(self, at, True)


class Module(object):
    def __init__(self):
        self._parameters, self._buffers, self._modules = {}, {}, {}


class Optimizer(object):
    def __init__(self, parameters):
        self.parameters, self.state = parameters, {}


def install():
    for name, members in (("torch", {"Tensor": Tensor}),
                          ("torch._C", {"TensorBase": TensorBase}),
                          ("torch.nn.parameter", {"Parameter": Parameter}),
                          ("torch.nn.modules.module", {"Module": Module}),
                          ("torch.optim.optimizer", {"Optimizer": Optimizer})):
        module = types.ModuleType(name)
        module.__dict__.update(members)
        sys.modules[name] = module


def install_cuda(stats, initialized=True, backend="native", bad_fork=False):
    """What says how the allocator stands: functions in C, as PyTorch's are."""
    cuda = types.ModuleType("torch.cuda")
    cuda._initialized = initialized
    sys.modules["torch.cuda"] = cuda
    core = sys.modules["torch._C"]
    core._cuda_memoryStats = {0: stats}.__getitem__
    core._cuda_isInBadFork = ("yes" if bad_fork else "1").isalpha
    if backend:
        core._cuda_getAllocatorBackend = backend.lower
