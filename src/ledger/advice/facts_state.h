/* SPDX-License-Identifier: Apache-2.0 */
/* What facts.c keeps of a context. */
#ifndef TARE_LEDGER_FACTS_STATE_H
#define TARE_LEDGER_FACTS_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stack_use {
	const char *kernel;
	int64_t local, at;
};

struct stream_use {
	uint64_t owner, count;
	int64_t bytes, at;
};

struct module_use {
	uint64_t handle;
	int64_t bytes, at;
	bool is_launched;
};

struct limit {
	int64_t asked, bytes, at;
};

struct tare_facts {
	struct stack_use *stacks;
	size_t stack_nr, stack_cap;
	struct stream_use *streams;
	size_t stream_nr, stream_cap;
	struct module_use *modules;
	size_t module_nr, module_cap;
	struct limit stack_limit, heap_limit;
};

#endif
