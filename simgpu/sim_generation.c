/* SPDX-License-Identifier: Apache-2.0 */
/* What goes with the compute capability, as NVIDIA's technical specifications have it: libraries choose kernels by it. */
#include "sim.h"

/* A row holds up to the next: 8.0 is 80. Before 7.0 a block gets no more than it has unasked. */
static const struct sim_generation generations[] = {
	{ 0, 65536, 49152, 32 },    { 70, 98304, 98304, 32 },   { 75, 65536, 65536, 16 },
	{ 80, 167936, 166912, 32 }, { 86, 102400, 101376, 16 }, { 87, 167936, 166912, 16 },
	{ 89, 102400, 101376, 24 }, { 90, 233472, 232448, 32 }, { 120, 102400, 101376, 24 },
};

const struct sim_generation *sim_generation(void)
{
	uint64_t compute = sim.profile.compute_major * 10 + sim.profile.compute_minor;
	size_t i = sizeof(generations) / sizeof(generations[0]) - 1;

	while (i && generations[i].compute > compute)
		i--;
	return &generations[i];
}
