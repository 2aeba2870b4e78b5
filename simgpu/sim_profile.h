/* SPDX-License-Identifier: Apache-2.0 */
/* A device profile: what one kind of GPU and its driver take for everything. docs/PROFILE.md. */
#ifndef SIM_PROFILE_H
#define SIM_PROFILE_H

#include <stddef.h>
#include <stdint.h>

/* Every key is required; sizes take KiB, MiB and GiB. */
#define SIM_PROFILE_TEXTS(X)                                                                       \
	X(name)                                                                                    \
	X(uuid)                                                                                    \
	X(driver_version)

#define SIM_PROFILE_NUMBERS(X)                                                                     \
	X(cuda_version)                                                                            \
	X(compute_major)                                                                           \
	X(compute_minor)                                                                           \
	X(integrated)                                                                              \
	X(pci_bus_first)                                                                           \
	X(pci_device_id)                                                                           \
	X(total)                                                                                   \
	X(reserved)                                                                                \
	X(page)                                                                                    \
	X(vmm_granularity)                                                                         \
	X(sm_count)                                                                                \
	X(threads_per_sm)                                                                          \
	X(stack_default)                                                                           \
	X(printf_default)                                                                          \
	X(heap_default)                                                                            \
	X(l2_persisting_default)                                                                   \
	X(local_extra)                                                                             \
	X(init)                                                                                    \
	X(init_process)                                                                            \
	X(context)                                                                                 \
	X(code_step)                                                                               \
	X(code_free)                                                                               \
	X(runtime)                                                                                 \
	X(runtime_printf)                                                                          \
	X(runtime_malloc)                                                                          \
	X(heap_extra)                                                                              \
	X(managed_step)                                                                            \
	X(suballoc_align)                                                                          \
	X(pitch_align)                                                                             \
	X(stream_step)                                                                             \
	X(streams_free)                                                                            \
	X(streams_per_step)                                                                        \
	X(streams_free_2)                                                                          \
	X(streams_per_step_2)                                                                      \
	X(graph_step)                                                                              \
	X(graph_node)                                                                              \
	X(graph_free)                                                                              \
	X(graph_param_small)                                                                       \
	X(graph_param_percent)                                                                     \
	X(graph_param_free)                                                                        \
	X(pool_step)                                                                               \
	X(nvml_context_below)

struct sim_profile {
#define X(key) char key[64];
	SIM_PROFILE_TEXTS(X)
#undef X
#define X(key) uint64_t key;
	SIM_PROFILE_NUMBERS(X)
#undef X
};

/*
 * Reads the profile that TARE_SIM_PROFILE names: a file (with a slash in it) or NAME.profile in
 * the folder `profiles` beside this library. 0, or -1 and a sentence in `error`.
 */
int sim_profile_load(struct sim_profile *profile, char *error, size_t size);

/* The text that nvidia-smi shows, "GPU-…" of 40 characters, for device `index`. */
void sim_profile_uuid(const struct sim_profile *profile, int index, char text[64]);
/* The same as the driver's 16 bytes. */
void sim_uuid_parse(const char *text, unsigned char bytes[16]);

/* A partition's first byte differs from its GPU's in this bit. */
#define SIM_UUID_MIG 0x10

/* GPUs of the machine: TARE_SIM_DEVICES, else one. */
#define SIM_DEVICES 16
int sim_profile_devices(void);

/* "512", "0x1f", "2 MiB", "615.0625 MiB". 0, or -1. */
int sim_size_parse(const char *text, uint64_t *value);

#endif
