/* SPDX-License-Identifier: Apache-2.0 */
/* Views that are about GPUs only, asked for of a program that used the CPU: a sentence instead of an empty table. */
#include "view/by.h"

static const struct {
	enum tare_by by;
	const char *why;
} gpu_only[] = {
	{ TARE_BY_DEVICE, "--by device has a line for each GPU, and this program worked on the CPU" },
	{ TARE_BY_POOL,
	  "--by pool is about what PyTorch caches of a GPU; on the CPU it caches nothing, but gives back what is "
	  "freed" },
	{ TARE_BY_STREAM, "--by stream is about a GPU's queues of work; on the CPU there are none" },
	{ TARE_BY_RESIDUE, "--by residue is about what stays on a GPU; on the CPU free() gives back what is freed" },
	{ TARE_BY_SERVING, "--by serving is about a GPU that holds a server's cache, and this program worked on the CPU" },
	{ TARE_BY_GRAPH, "--by graph is about CUDA graphs; on the CPU there are none" },
};

static bool is_of_cpu(const struct tare_ledger *l)
{
	bool has_tensors = false;

	for (int i = 0; i < l->host_nr; i++)
		has_tensors |= l->hosts[i].tensors.is_known;
	return has_tensors && !l->opened_gpu && !l->device_nr;
}

const char *tare_by_why_not_on_cpu(const struct tare_by_ask *ask)
{
	const char *why = NULL;

	for (size_t i = 0; i < sizeof(gpu_only) / sizeof(gpu_only[0]); i++)
		if (gpu_only[i].by == ask->by)
			why = gpu_only[i].why;
	for (int i = 0; i < ask->ledger_nr; i++)
		if (!is_of_cpu(ask->ledgers[i]))
			return NULL;
	return why;
}
