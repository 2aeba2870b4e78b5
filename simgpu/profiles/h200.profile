# SPDX-License-Identifier: Apache-2.0
# NVIDIA H200, driver 580.159.04, CUDA 13.0, on Linux 6.18.44-fc-v657-gpu (x86_64).
# Measured on 2026-11-22 by Tare 0.1.0: tare calibrate -f -o simgpu/profiles/h200.profile
# It took 17.5 s and weighed with NVML. docs/PROFILE.md says what each key means.

# what the device is
name = NVIDIA H200
uuid = GPU-7a5e0200-5eed-4200-8000-0000000000##
measured = 1
driver_version = 580.159.04
cuda_version = 13000
compute_major = 9
compute_minor = 0
integrated = 0
nvml = memory
pci_bus_first = 0
pci_device_id = 0x233510de

# memory
total = 143771 MiB
reserved = 615.0625 MiB
others = 0
page = 2 MiB
vmm_granularity = 2 MiB

# processors, and the local memory that every one of their threads may need
sm_count = 132
threads_per_sm = 2048
l2 = 60 MiB
stack_default = 1 KiB
stack_align = 16
# 388 KiB to 512 KiB: stack × 270336 threads, 24 sizes, up to 1392 bytes
local_extra = 512 KiB
printf_default = 8.25 MiB
heap_default = 8 MiB
l2_persisting_default = 11.25 MiB

# the driver's own needs: the first process of a device, each process, each context
init = 3.25 MiB
init_process = 0
context = 523.5625 MiB
nvml_context_below = 5.5625 MiB

# code, beyond what a context has room for; and what kernels with printf or malloc need
code_step = 2 MiB
# 0 to 2371583: 72 loads of 49408 bytes of code, to 35713 bytes
code_free = 310143
# 0 to 20971: 100 modules took 0 bytes
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
# 0 to 52: 40000 events took 0 bytes
event = 0

# graphs: bytes per kernel node, beyond what a context comes with; large parameters are extra
graph_step = 2 MiB
graph_kept = 1
# 2098 to 2597: 9 graphs of up to 20000 kernels, to 528985 bytes
graph_node = 2428
# 0 to 189: a graph of 10000 took 0 bytes
graph_memset = 0
# 2.4375 KiB to 2706: a graph of 10000 took 25165824 bytes
graph_memcpy = 2601
# 0 to 189: a graph of 10000 took 0 bytes
graph_empty = 0
# 848 to 3708515: 9 graphs of up to 20000 kernels, to 528985 bytes
graph_free = 1899015
# 1264 to 1271: graphs of 4000 kernels, sizes of parameters in turn
graph_param_small = 1264
# 132 to 186: 7 graphs of kernels with 4000 bytes of parameters, to 141153 bytes
graph_param_percent = 163
# 0 to 2231999: 7 graphs of kernels with 4000 bytes of parameters, to 141153 bytes
graph_param_free = 0
graph_pool_step = 32 MiB

# asynchronous pools
pool_step = 32 MiB
