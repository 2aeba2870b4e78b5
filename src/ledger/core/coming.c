/* SPDX-License-Identifier: Apache-2.0 */
/* The names of what needs memory one after the other (coming.def), and which of them an account and its owner are. */
#include "ledger/coming.h"

#include "ledger/ledger.h"

#include <string.h>

static const struct {
	const char *key, *label;
} comings[TARE_COMING_NR] = {
#define TARE_COMING(KEY, key, label) [TARE_COMING_##KEY] = { key, label },
#include "ledger/coming.def"
};

const char *tare_coming_key(unsigned what)
{
	return comings[what].key;
}

const char *tare_coming_label(unsigned what)
{
	return comings[what].label;
}

static enum tare_coming of_owner(const char *owner)
{
	if (owner && (!strcmp(owner, "NCCL") || !strcmp(owner, "NVSHMEM")))
		return TARE_COMING_COMMUNICATION;
	if (owner && !strcmp(owner, "PyTorch"))
		return TARE_COMING_TENSORS;
	if (owner && (!strncmp(owner, "cu", 2) || !strcmp(owner, "TensorRT")))
		return TARE_COMING_LIBRARIES;
	return TARE_COMING_OTHER;
}

enum tare_coming tare_coming_of(enum tare_account account, const char *owner)
{
	switch (account) {
	case TARE_ACCOUNT_DRIVER:
	case TARE_ACCOUNT_CONTEXT:
		return TARE_COMING_CONTEXT;
	case TARE_ACCOUNT_CODE:
	case TARE_ACCOUNT_LOCAL:
	case TARE_ACCOUNT_KERNEL_HEAP:
		return TARE_COMING_CODE;
	case TARE_ACCOUNT_STREAM:
		return TARE_COMING_STREAMS;
	case TARE_ACCOUNT_EXEC:
	case TARE_ACCOUNT_GRAPHMEM:
	case TARE_ACCOUNT_KEPT:
		return TARE_COMING_GRAPH_EXECS;
	case TARE_ACCOUNT_HOSTMAP:
		return TARE_COMING_PINNED;
	case TARE_ACCOUNT_ALLOCATION:
	case TARE_ACCOUNT_VMM:
	case TARE_ACCOUNT_POOL:
	case TARE_ACCOUNT_IPC:
		return of_owner(owner);
	case TARE_ACCOUNT_OTHER:
		return TARE_COMING_PROCESSES;
	default:
		return TARE_COMING_OTHER;
	}
}

void tare_need_join(struct tare_need *first, const struct tare_need *next)
{
	int64_t across = first->most - next->least;

	if (across > first->fall) {
		first->fall = across;
		first->fall_ns = first->most_ns;
	}
	if (next->fall > first->fall) {
		first->fall = next->fall;
		first->fall_ns = next->fall_ns;
	}
	if (next->most > first->most) {
		first->most = next->most;
		first->most_ns = next->most_ns;
	}
	if (next->least < first->least)
		first->least = next->least;
	first->last = next->last;
}
