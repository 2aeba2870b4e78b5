/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of PyTorch that the recorder exports too, so that it is called first: their names, and torch's own
 * function to pass a call on to.
 */
#ifndef TARE_RECORDER_TORCH_REAL_H
#define TARE_RECORDER_TORCH_REAL_H

#include "recorder/recorder.h"

/* A mangled name that a macro stands for, as a string. */
#define TARE_TORCH_QUOTE(name) #name
#define TARE_TORCH_NAME(name)  TARE_TORCH_QUOTE(name)

/* One function, looked for once. */
struct tare_torch_real {
	const char *name;
	const void *ours; /* what we export under that name; NULL: look in torch's libraries only */
	void *found;
	bool is_nowhere; /* not in torch's libraries, which is all that is asked */
};

/* To be found in a library of torch's, or wherever else the dynamic linker knows of it. */
#define TARE_TORCH_ANYWHERE(function)                                                                                  \
	{                                                                                                                  \
		.name = TARE_TORCH_NAME(function), .ours = (const void *)(function)                                            \
	}

/* For calls with a lock of torch's held: nothing that may wait for the dynamic linker's own is asked of it. */
#define TARE_TORCH_AT_HOME(function)                                                                                   \
	{                                                                                                                  \
		.name = TARE_TORCH_NAME(function)                                                                              \
	}

TARE_COLD void *tare_torch_look(struct tare_torch_real *real);

/*
 * NULL: there is none. What was found is kept for good: no library of C++ with symbols that are unique to a process,
 * as torch's have, is ever unloaded.
 */
static inline void *tare_torch_real(struct tare_torch_real *real)
{
	void *found = __atomic_load_n(&real->found, __ATOMIC_RELAXED);

	return likely(found != NULL) ? found : tare_torch_look(real);
}

#endif
