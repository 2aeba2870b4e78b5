# SPDX-License-Identifier: Apache-2.0
# NVIDIA H200, driver 580.159.04, CUDA 13.0. Every figure was measured on one; docs/PROFILE.md says
# what each key means and how it was found.

name = NVIDIA H200
# ## becomes the index of the device, in hexadecimal
uuid = GPU-7a5e0200-5eed-4200-8000-0000000000##
driver_version = 580.159.04
cuda_version = 13000
compute_major = 9
compute_minor = 0
integrated = 0
pci_bus_first = 24
pci_device_id = 0x233510de

# memory
total = 143771 MiB
reserved = 615.0625 MiB
page = 2 MiB
vmm_granularity = 2 MiB

# processors, and the local memory that every one of their threads may need
sm_count = 132
threads_per_sm = 2048
stack_default = 1 KiB
stack_align = 16
local_extra = 1 MiB
printf_default = 8448 KiB
heap_default = 8 MiB
l2_persisting_default = 11796480

# the driver's own needs: the first process of a device, each process, each context
init = 3264 KiB
init_process = 64 KiB
context = 523.5625 MiB

# code, beyond what a context has room for; and what kernels with printf or malloc need
code_step = 2 MiB
code_free = 512 KiB
module = 0
first_launch = 0
runtime = 62 MiB
runtime_printf = 2 MiB
runtime_malloc = 76 MiB
# not measured: a usual value
runtime_assert = 62 MiB
heap_extra = 2 MiB

# allocations: below a page they come out of a shared one
suballoc_align = 512
pitch_align = 512
managed_step = 128 MiB

# streams: two kinds of memory, each for so many streams, after the first few
stream_step = 2 MiB
streams_free = 1
streams_per_step = 4
streams_free_2 = 35
streams_per_step_2 = 43
event = 0

# graphs: bytes per kernel node, beyond what a context comes with; parameters are extra when large
graph_step = 2 MiB
graph_kept = 1
graph_node = 2360
graph_memset = 0
# not measured: usual values
graph_memcpy = 0
graph_empty = 0
graph_free = 2.3 MiB
graph_param_small = 1024
graph_param_percent = 162
graph_param_free = 0.7 MiB
# not measured: a usual value
graph_pool_step = 2 MiB

# asynchronous pools
pool_step = 32 MiB

# what NVML's process list leaves out, for each context
nvml_context_below = 5.5625 MiB
