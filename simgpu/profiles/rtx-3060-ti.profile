# SPDX-License-Identifier: Apache-2.0
# An NVIDIA GeForce RTX 3060 Ti of 8 GB, on Linux. WRITTEN BY HAND, NOT MEASURED; `tare calibrate` measures a real one.
# Documented: name, total (as nvidia-smi shows it), compute capability, multiprocessors and threads of each.
# Estimates, with the range where one is known: what stands below a comment. All else is as on an H200 (docs/PROFILE.md, "Cards").

# what the device is
name = NVIDIA GeForce RTX 3060 Ti
uuid = GPU-7a5e0200-5eed-4200-8000-0000000000##
measured = 0
driver_version = 580.159.04
cuda_version = 13000
compute_major = 8
compute_minor = 6
integrated = 0
nvml = memory
pci_bus_first = 0
pci_device_id = 0x248910de

# memory
total = 8192 MiB
# an estimate, in MiB, by the driver: 200 to 345: PyTorch names 7.66 to 7.79 GiB
reserved = 341.25 MiB
others = 0
page = 2 MiB
vmm_granularity = 2 MiB

# processors, and the local memory that every one of their threads may need
sm_count = 38
threads_per_sm = 1536
l2 = 4 MiB
stack_default = 1 KiB
stack_align = 16
local_extra = 512 KiB
# an estimate: 64 KiB for each multiprocessor, as on the H200
printf_default = 2.375 MiB
heap_default = 8 MiB
# an estimate: 3/16 of the L2 cache, as on the H200
l2_persisting_default = 576 KiB

# the driver's own needs: the first process of a device, each process, each context
# an estimate: the H200's; no range is known
init = 3.25 MiB
init_process = 0
# an estimate, in MiB: 113 to 317. 38 x 1536 threads x 1 KiB of stack are 57; the rest, 259.5625, is the H200's
context = 316.5625 MiB
nvml_context_below = 5.5625 MiB

# code, beyond what a context has room for; and what kernels with printf or malloc need
code_step = 2 MiB
code_free = 310143
module = 0
first_launch = 0
# an estimate, as are the next three: the H200's; no range is known
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
