# SPDX-License-Identifier: Apache-2.0
# An NVIDIA H100 of 80 GB (HBM3, SXM5), driver 580.159.04, CUDA 13.0. On such a card NVML's total and reserved, cuInit, the
# context and the first kernel of PyTorch (92 MiB: runtime_assert and a step of code) were weighed. The rest is as `tare
# calibrate` measured it on an H200, which is the same chip with other memory. docs/PROFILE.md says what each key means.

# what the device is
name = NVIDIA H100 80GB HBM3
uuid = GPU-7a5e0200-5eed-4200-8000-0000000000##
measured = 1
driver_version = 580.159.04
cuda_version = 13000
compute_major = 9
compute_minor = 0
integrated = 0
nvml = memory
pci_bus_first = 0
pci_device_id = 0x233010de

# memory
# weighed, as are reserved, init and context
total = 81559 MiB
reserved = 480 MiB
others = 0
page = 2 MiB
vmm_granularity = 2 MiB

# processors, and the local memory that every one of their threads may need
sm_count = 132
threads_per_sm = 2048
stack_default = 1 KiB
stack_align = 16
local_extra = 512 KiB
printf_default = 8.25 MiB
heap_default = 8 MiB
# an estimate: 3/16 of the L2 cache, as on the H200
l2_persisting_default = 9.375 MiB

# the driver's own needs: the first process of a device, each process, each context
init = 3.25 MiB
init_process = 0
context = 523.5625 MiB
nvml_context_below = 5.5625 MiB

# code, beyond what a context has room for; and what kernels with printf or malloc need
code_step = 2 MiB
code_free = 310143
module = 0
first_launch = 0
runtime = 62 MiB
runtime_printf = 2 MiB
runtime_malloc = 76 MiB
runtime_assert = 90 MiB
heap_extra = 2 MiB

# allocations: below a page they come out of a shared one
suballoc_align = 512
pitch_align = 512
managed_step = 128 MiB

# streams: two kinds of memory, each for so many streams, after the first few; kept when streams go
stream_step = 2 MiB
streams_free = 1
streams_per_step = 4
streams_free_2 = 35
streams_per_step_2 = 43
event = 0

# graphs: bytes per kernel node, beyond what a context comes with; large parameters are extra
graph_step = 2 MiB
graph_kept = 1
graph_node = 2428
graph_memset = 0
graph_memcpy = 2601
graph_empty = 0
graph_free = 1899015
graph_param_small = 1264
graph_param_percent = 163
graph_param_free = 0
graph_pool_step = 32 MiB

# asynchronous pools
pool_step = 32 MiB
