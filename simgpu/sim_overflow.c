/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flag of a loss scale. In half precision PyTorch's GradScaler has a kernel look whether a gradient is not finite, reads
 * a flag of 4 bytes back, and leaves the optimizer's step out where it is set: so that flag decides in which step the
 * optimizer's state is allocated. Between the kernel and the copy others may be launched (clipping), so the flag is known by
 * its place: the kernel's last parameter is a function object of PyTorch's sources that has two pointers, to the
 * flag and to the scale, which is not read back by itself. Both are kept, the last ones of a process.
 */
#include "sim_overflow.h"

#include <string.h>

#include "sim.h"

enum { FLAGS = 64, FLAG_BYTES = 4 };

static uint64_t flags[FLAGS];
static unsigned next;

bool sim_overflow_is(uint64_t from, uint64_t size)
{
	for (int i = 0; i < FLAGS && size == FLAG_BYTES; i++)
		if (flags[i] == from)
			return true;
	return false;
}

/* Of gradients in lists the object is the third parameter, behind the lists and what is done to each; of one alone the second. */
void sim_overflow_launched(const char *kernel, void **params)
{
	uint64_t places[2];

	if (!params)
		return;
	memcpy(places, params[strstr(kernel, "multi_tensor_apply") ? 2 : 1], sizeof(places));
	for (int i = 0; i < 2; i++)
		if (places[i] && !sim_overflow_is(places[i], FLAG_BYTES))
			flags[next++ % FLAGS] = places[i];
}

void sim_overflow_forget(uint64_t address, uint64_t size)
{
	for (int i = 0; i < FLAGS; i++)
		if (flags[i] - address < size)
			flags[i] = 0;
}
