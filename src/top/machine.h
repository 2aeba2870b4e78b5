/* SPDX-License-Identifier: Apache-2.0 */
/* The GPUs of this machine and the processes that have memory on them, as NVML says: nvidia-smi's own figures. */
#ifndef TARE_TOP_MACHINE_H
#define TARE_TOP_MACHINE_H

#include "top/find.h"
#include "witness/nvml.h"

struct tare_top_gpu {
	const struct tare_nvml_device *device;
	struct tare_nvml_memory memory; /* version 0: not known */
	struct tare_nvml_processes processes;
};

struct tare_top_machine {
	struct tare_nvml *nvml;  /* NULL: there is none, … */
	struct tare_err failure; /* … why */
	char *sim_state;         /* it is a simulated machine, whose state lies there; NULL: the real one */
	bool has_joined; /* one that was found: the real one is not here, and its name would give the simulated one again */
	int64_t tried_ns;
	size_t tried_count; /* of recordings that there were */
	struct tare_top_gpu *gpus;
	int gpu_nr;
	char host[65];
};

/*
 * Reads it. Where there is no NVML, a recording's simulated machine is looked at: what `tare run --sim` runs in another
 * terminal is seen as a GPU would be.
 */
void tare_top_machine_turn(struct tare_top_machine *m, const struct tare_finder *found, int64_t now_ns);
void tare_top_machine_free(struct tare_top_machine *m);

/* What a process is called: "python3 train.py". NULL: there is none of that pid here. The caller frees it. */
char *tare_top_process_name(uint32_t pid);

/* Is the pid, as NVML has it, that recorded process? It may have another pid in a container; a simulated NVML has that one. */
bool tare_top_is_process(uint32_t pid, const struct tare_follow_process *p, bool is_simulated);

#endif
