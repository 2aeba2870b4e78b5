/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps in which call of NCCL each thread is, and the numbers of communicators. */
#include "recorder/phase/comm.h"

#include "recorder/base/fork.h"
#include "recorder/base/plib.h"
#include "recorder/recorder.h"

#define COMMS 1024 /* communicators of one process; of those beyond, no name is known */
#define DEPTH 4    /* of calls in one another */

/* What memory is for; a group of calls may have several. */
enum { MADE = 1, COLLECTIVES = 2, MESSAGES = 4, REGISTERED = 8, GROUP_BEGIN = 16, GROUP_END = 32, ENDED = 64 };

static const struct {
	const char *prefix;
	uint32_t kind;
} calls[] = {
	{ "ncclCommInit", MADE },
	{ "ncclCommSplit", MADE },
	{ "ncclCommShrink", MADE },
	{ "ncclCommGrow", MADE },
	{ "ncclCommRegister", REGISTERED },
	{ "ncclCommWindowRegister", REGISTERED },
	{ "ncclMemAlloc", REGISTERED },
	{ "ncclSend", MESSAGES },
	{ "ncclRecv", MESSAGES },
	{ "ncclGroupStart", GROUP_BEGIN },
	{ "ncclGroupEnd", GROUP_END },
	{ "ncclGroupSimulateEnd", GROUP_END },
	{ "ncclComm", ENDED }, /* destroyed, aborted, finalized */
	{ "ncclMem", ENDED },
	{ "nccl", COLLECTIVES },
};

/* What is told of a communicator: 0 nothing yet, while it is made; LOOSE: it was made, and NCCL did not say its number. */
enum { LOOSE = 1 };
static uint64_t comms[COMMS];
static uint32_t comm_nr;

uint32_t tare_comm_threads;
TARE_OF_PROCESS(tare_comm_threads);
static uint32_t last; /* what the last call that began is for: its number << 8 | kinds */

struct what {
	uint32_t number, kinds;
};

static TARE_TLS struct {
	int depth;
	struct what calls[DEPTH];
	int groups; /* open */
	bool is_of_several;
	struct what group;
} here;

static uint32_t kind_of(const char *call)
{
	size_t i;

	for (i = 0; call && i < sizeof(calls) / sizeof(calls[0]); i++)
		if (tare_plib_starts(call, calls[i].prefix))
			return calls[i].kind;
	return 0;
}

/* ---- numbers ---- */
static uint32_t new_number(uint64_t comm)
{
	uint32_t i;

	if (__atomic_load_n(&comm_nr, __ATOMIC_RELAXED) >= COMMS)
		return 0;
	i = __atomic_fetch_add(&comm_nr, 1, __ATOMIC_RELAXED);
	if (i >= COMMS)
		return 0;
	__atomic_store_n(&comms[i], comm, __ATOMIC_RELEASE);
	return i + 1;
}

/* One that was made before it had a number of NCCL's, as those are that are made in a group, is the first that is used. */
static uint32_t number_of(uint64_t comm)
{
	uint32_t i, nr = __atomic_load_n(&comm_nr, __ATOMIC_ACQUIRE);

	if (comm <= LOOSE)
		return 0;
	for (i = 0; i < nr && i < COMMS; i++)
		if (__atomic_load_n(&comms[i], __ATOMIC_RELAXED) == comm)
			return i + 1;
	for (i = 0; i < nr && i < COMMS; i++) {
		uint64_t loose = LOOSE;

		if (__atomic_compare_exchange_n(&comms[i], &loose, comm, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return i + 1;
	}
	return new_number(comm);
}

/* ---- calls ---- */
static void add_to_group(struct what what)
{
	if (!what.kinds)
		return;
	here.is_of_several |= here.group.kinds && here.group.number != what.number;
	here.group.number = here.is_of_several ? 0 : what.number;
	here.group.kinds |= what.kinds;
}

static struct what begin(uint32_t kind, uint64_t comm)
{
	struct what what = { .kinds = kind };

	if (kind == GROUP_END) {
		what = here.groups == 1 ? here.group : (struct what){ 0 };
	} else if (kind == MADE) {
		what.number = new_number(0);
	} else if (kind != GROUP_BEGIN && kind != ENDED) {
		what.number = number_of(comm);
	}
	what.kinds &= MADE | COLLECTIVES | MESSAGES | REGISTERED;
	return what;
}

void tare_comm_push(const char *call, uint64_t comm)
{
	uint32_t kind = kind_of(call);
	struct what what = begin(kind, comm);

	if (here.groups && kind != GROUP_BEGIN && kind != GROUP_END)
		add_to_group(what);
	if (kind == GROUP_BEGIN && !here.groups++) {
		here.group = (struct what){ 0 };
		here.is_of_several = false;
	}
	if (kind == GROUP_END && here.groups)
		here.groups--;
	if (here.depth < DEPTH)
		here.calls[here.depth] = what;
	if (!here.depth++)
		__atomic_fetch_add(&tare_comm_threads, 1, __ATOMIC_RELAXED);
	if (what.kinds || kind == GROUP_END || here.depth == 1)
		__atomic_store_n(&last, what.number << 8 | what.kinds, __ATOMIC_RELAXED);
}

void tare_comm_pop(uint64_t comm)
{
	struct what what = { 0 };

	if (!here.depth)
		return; /* it began before there was a recorder */
	if (--here.depth < DEPTH)
		what = here.calls[here.depth];
	if (what.kinds == MADE && what.number)
		__atomic_store_n(&comms[what.number - 1], comm > LOOSE ? comm : LOOSE, __ATOMIC_RELEASE);
	if (!here.depth)
		__atomic_fetch_sub(&tare_comm_threads, 1, __ATOMIC_RELAXED);
}

/* ---- names ---- */
static struct what now(void)
{
	int i = here.depth < DEPTH ? here.depth : DEPTH;
	uint32_t packed;

	while (i-- > 0)
		if (here.calls[i].kinds)
			return here.calls[i];
	if (here.depth || __atomic_load_n(&tare_comm_threads, __ATOMIC_RELAXED) != 1)
		return (struct what){ 0 };
	packed = __atomic_load_n(&last, __ATOMIC_RELAXED);
	return (struct what){ packed >> 8, packed & 0xff };
}

static const char *name_of(uint32_t kinds)
{
	switch (kinds) {
	case MADE:
		return "made";
	case COLLECTIVES:
		return "collectives";
	case MESSAGES:
		return "messages";
	case REGISTERED:
		return "to be registered";
	default:
		return "several calls together";
	}
}

bool tare_comm_name_now(char *out, size_t size)
{
	struct what what = now();

	if (!what.kinds)
		return false;
	if (what.number)
		tare_plib_format(out, size, "communicator %u: %s", what.number, name_of(what.kinds));
	else
		tare_plib_format(out, size, "%s", name_of(what.kinds));
	return true;
}
