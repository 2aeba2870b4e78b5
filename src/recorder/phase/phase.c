/* SPDX-License-Identifier: Apache-2.0 */
/* Records phases, and keeps those that begin before there is a log. */
#include "recorder/phase/phase.h"

#include <errno.h>
#include <string.h>

#include "recorder/base/fork.h"
#include "recorder/base/plib.h"
#include "recorder/base/sys.h"
#include "recorder/cuda/context.h"
#include "recorder/cuda/devices.h"
#include "recorder/log/emit.h"
#include "recorder/ring/ring.h"
#include "recorder/weigh/weigh.h"
#include "record/clock.h"

#define EARLY_NR   64
#define EARLY_NAME 120
#define LOCK_TRIES 1000

/* What begins before the log is open. Behind a lock that is tried and never waited for long. */
static struct early {
	uint32_t tid;
	uint8_t what, source;
	uint64_t id;
	char domain[32], name[EARLY_NAME];
} early[EARLY_NR];
static uint32_t early_lock;
TARE_OF_PROCESS(early_lock);
uint32_t tare_phase_waiting TARE_HOT_DATA;
TARE_OF_PROCESS(tare_phase_waiting);

static uint64_t next_id;
static uint64_t last_used[TARE_WEIGH_DEVICES]; /* as last read here */
TARE_OF_PROCESS(last_used);

uint64_t tare_phase_new_id(void)
{
	return __atomic_add_fetch(&next_id, 1, __ATOMIC_RELAXED);
}

static bool lock(void)
{
	int i;

	for (i = 0; i < LOCK_TRIES; i++) {
		uint32_t none = 0;

		if (__atomic_compare_exchange_n(&early_lock, &none, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return true;
		if ((i & 15) == 15)
			tare_sys6(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
	}
	return false;
}

static void unlock(void)
{
	__atomic_store_n(&early_lock, 0, __ATOMIC_RELEASE);
}

static bool ends(const struct early *e, const struct tare_phase *phase)
{
	if (e->source != phase->source || !tare_plib_equal(e->domain, phase->domain ? phase->domain : ""))
		return false;
	return phase->what == TARE_PHASE_POP ? e->what == TARE_PHASE_PUSH && e->tid == tare_fork_tid()
	                                     : e->what == TARE_PHASE_BEGIN && e->id == phase->id;
}

static void remove_early(const struct tare_phase *phase)
{
	uint32_t nr = tare_phase_waiting, i;

	for (i = nr; i-- > 0;) {
		if (!ends(&early[i], phase))
			continue;
		memmove(&early[i], &early[i + 1], (nr - i - 1) * sizeof(early[0]));
		__atomic_store_n(&tare_phase_waiting, nr - 1, __ATOMIC_RELEASE);
		return;
	}
}

static void add_early(const struct tare_phase *phase)
{
	uint32_t nr = tare_phase_waiting;
	struct early *e = &early[nr];

	if (nr == EARLY_NR)
		return; /* deeper than anybody nests; their pops will have no push */
	*e = (struct early){ .tid = tare_fork_tid(), .what = (uint8_t)phase->what, .source = (uint8_t)phase->source };
	e->id = phase->id;
	tare_plib_format(e->name, sizeof(e->name), "%s", phase->name ? phase->name : "");
	tare_plib_format(e->domain, sizeof(e->domain), "%s", phase->domain ? phase->domain : "");
	__atomic_store_n(&tare_phase_waiting, nr + 1, __ATOMIC_RELEASE);
}

static void wait_for_log(const struct tare_phase *phase)
{
	if (phase->what == TARE_PHASE_MARK || !lock())
		return;
	if (phase->what == TARE_PHASE_PUSH || phase->what == TARE_PHASE_BEGIN)
		add_early(phase);
	else
		remove_early(phase);
	unlock();
}

static void emit(const struct tare_phase *phase, uint32_t thread)
{
	struct tare_rec_phase rec;

	memset(&rec, 0, sizeof(rec));
	rec.tid = thread;
	rec.what = (uint8_t)phase->what;
	rec.source = (uint8_t)phase->source;
	if (phase->name)
		rec.name = phase->source == TARE_PHASE_BY_LINE ? tare_emit_path(phase->name) : tare_emit_string(phase->name);
	rec.domain = phase->domain && phase->domain[0] ? tare_emit_string(phase->domain) : 0;
	rec.id = phase->id;
	tare_emit_phase(&rec, tare_clock_ticks());
}

void tare_phase_flush(void)
{
	uint32_t i;

	if (!lock())
		return;
	for (i = 0; i < tare_phase_waiting; i++) {
		const struct early *e = &early[i];

		emit(&(struct tare_phase){ .what = (enum tare_phase_what)e->what,
		                           .source = (enum tare_phase_source)e->source,
		                           .name = e->name,
		                           .domain = e->domain,
		                           .id = e->id },
		     e->tid);
	}
	__atomic_store_n(&tare_phase_waiting, 0, __ATOMIC_RELEASE);
	unlock();
}

/*
 * What changed since the last call, without a call: managed memory that came in, or somebody else.
 * Without this reading the next call tells, and the ledger books it to the phase in which that is.
 */
static void read_counter(void)
{
	struct tare_rec_reading rec;
	bool by_cuda = false;
	int device, saved = errno;
	uint64_t used, since;

	if (tare_context_count() == 0 || !tare_weigh_allowed(TARE_WEIGH_SPARE))
		return;
	device = tare_context_device(tare_context_current());
	if (device >= 0 && device < TARE_WEIGH_DEVICES) {
		since = tare_clock_ticks();
		used = tare_devices_used(device, &by_cuda);
		if (used != TARE_NOT_KNOWN && !by_cuda && used != tare_weigh_last_used(device) &&
		    used != __atomic_load_n(&last_used[device], __ATOMIC_RELAXED)) {
			__atomic_store_n(&last_used[device], used, __ATOMIC_RELAXED);
			memset(&rec, 0, sizeof(rec));
			rec.device = device;
			rec.source = tare_weigh_is_v1() ? TARE_SOURCE_NVML1 : TARE_SOURCE_NVML2;
			rec.used = used;
			rec.reserved = rec.total = TARE_NOT_KNOWN;
			rec.peers = tare_weigh_others(device, &rec.used, &since);
			tare_emit_reading_since(&rec, since);
		}
	}
	errno = saved;
}

void tare_phase_add(const struct tare_phase *phase)
{
	if (tare_thread.depth > 0 || !tare_config.enabled || tare_config.nop)
		return;
	tare_fork_check();
	/* While it is paused phases go on: one that is open now ends some time. */
	if (tare_ring_is_open() && tare_ring_command() == TARE_COMMAND_STOP)
		return;
	tare_thread.depth++;
	if (unlikely(!tare_ring_is_open())) {
		wait_for_log(phase);
	} else {
		tare_phase_log_opens();
		read_counter();
		emit(phase, tare_fork_tid());
	}
	tare_thread.depth--;
}
