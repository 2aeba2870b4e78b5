# SPDX-License-Identifier: Apache-2.0
# A board like a Jetson Nano of 4 GB under JetPack 4: host and GPU have one memory, and there is no NVML. WRITTEN BY HAND, NOT
# MEASURED: no board was at hand. Published: the total, what others have in use (a desktop, 900 MB), CUDA 10.2, compute capability
# 5.3 and one multiprocessor. Assumed: the context (250 MiB). All else is as on an H200, pages of 2 MiB too.
# It is there to try programs and tare's answers where memory is one and small; `tare calibrate` measures a real board.

# what the device is
name = NVIDIA Tegra X1
uuid = GPU-7a5e0200-5eed-4200-8000-0000000000##
measured = 0
driver_version = 32.7.1
cuda_version = 10020
compute_major = 5
compute_minor = 3
integrated = 1
nvml = nothing
pci_bus_first = 0
pci_device_id = 0x10de

# memory
total = 3956 MiB
reserved = 0
others = 900 MiB
page = 2 MiB
vmm_granularity = 2 MiB

# processors, and the local memory that every one of their threads may need
sm_count = 1
threads_per_sm = 2048
l2 = 256 KiB
stack_default = 1 KiB
stack_align = 16
local_extra = 512 KiB
printf_default = 8.25 MiB
heap_default = 8 MiB
l2_persisting_default = 0

# the driver's own needs: the first process of a device, each process, each context
init = 0
init_process = 0
context = 250 MiB
nvml_context_below = 0

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
