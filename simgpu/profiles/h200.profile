# SPDX-License-Identifier: Apache-2.0
# NVIDIA H200, driver 580.159.04, CUDA 13.0. Every figure was measured on one; docs/PROFILE.md says
# what each means and how it was found.

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
printf_default = 1 MiB
heap_default = 8 MiB

# the driver's own needs
init = 3.25 MiB
context = 523.5625 MiB
first_launch = 64 MiB
code_step = 2 MiB
code_free = 2 MiB

# cuMemAlloc: up to suballoc_max bytes come out of a shared page
suballoc_max = 1 MiB
suballoc_align = 512
pitch_align = 512

# streams: so many of them share one step, the later ones fewer
stream_step = 2 MiB
streams_per_step = 4
streams_first = 32
streams_per_step_later = 2

# graphs: bytes per kernel node, in steps, beyond what a context comes with
graph_step = 2 MiB
graph_node = 2400
graph_free = 2.5 MiB
graph_param_small = 256

# asynchronous pools
pool_step = 32 MiB

# what NVML's process list leaves out of a process's memory
nvml_process_below = 8.8125 MiB
