/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the blocks of a log are whole. Each is read once and compared with its checksum, which is most of what opening a large
 * recording takes; so several threads do it where there is much.
 */
#include "base/xalloc.h"
#include "store/store.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
	THREADS_MAX = 8,
	THREAD_BYTES = 4 << 20, /* no thread for fewer */
	AT_ONCE = 32,           /* blocks that a thread takes: they lie one behind the other */
};

/* Blocks of a log, and which of them are damaged. */
struct checking {
	const struct tare_store *store;
	const struct tare_stored_block *blocks;
	size_t nr;
	bool *is_damaged;
	atomic_size_t next;
};

static void check_some(struct checking *c, size_t begin, size_t end)
{
	TARE_FREED_BY(tare_segment_reader_close) struct tare_segment_reader reader = { 0 };
	TARE_FREED_BY(tare_pack_free) struct tare_pack bytes = { 0 };

	for (size_t i = begin; i < end; i++) {
		const struct tare_stored_block *b = &c->blocks[i];

		c->is_damaged[i] = !tare_segment_read_on(&reader, &c->store->segments[b->segment], b->entry, &bytes);
	}
}

static void *check(void *arg)
{
	struct checking *c = arg;
	size_t begin;

	while ((begin = atomic_fetch_add(&c->next, AT_ONCE)) < c->nr)
		check_some(c, begin, c->nr - begin < AT_ONCE ? c->nr : begin + AT_ONCE);
	return NULL;
}

/* Beside this one. */
static size_t threads_for(const struct checking *c)
{
	uint64_t bytes = 0, most = 1;
	cpu_set_t set;

	for (size_t i = 0; i < c->nr; i++)
		bytes += tare_store_head(c->store, &c->blocks[i])->bytes;
	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		most = (uint64_t)CPU_COUNT(&set);
	if (most > THREADS_MAX)
		most = THREADS_MAX;
	if (most > bytes / THREAD_BYTES)
		most = bytes / THREAD_BYTES;
	return most > 1 ? most - 1 : 0;
}

/* Signals are for the thread that was there before. One that cannot be made is done without. */
static void check_all(struct checking *c)
{
	pthread_t threads[THREADS_MAX];
	size_t wanted = threads_for(c), nr = 0;
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (nr < wanted && pthread_create(&threads[nr], NULL, check, c) == 0)
		nr++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	check(c);
	while (nr > 0)
		pthread_join(threads[--nr], NULL);
}

/* As many files may have been open as can be at once: what a thread could not read is read again, when it alone is left. */
static void check_again(struct checking *c)
{
	for (size_t i = 0; i < c->nr; i++)
		if (c->is_damaged[i])
			check_some(c, i, i + 1);
}

static void add_time(struct tare_store_damage *damage, uint64_t first, uint64_t last)
{
	if (!damage->is_any || first < damage->first)
		damage->first = first;
	if (last > damage->last)
		damage->last = last;
	damage->is_any = true;
}

/* Tables count as events do: without the record of a device all that events say of it is missing. */
static void count_damaged(const struct tare_store *s, const struct tare_stored_block *blocks, size_t nr,
                          struct tare_store_damage *damage)
{
	struct checking c = {
		.store = s,
		.blocks = blocks,
		.nr = nr,
		.is_damaged = tare_xcalloc(nr + 1, sizeof(bool)),
	};

	check_all(&c);
	check_again(&c);
	for (size_t i = 0; i < nr; i++) {
		const struct tare_segment_block *head = tare_store_head(s, &blocks[i]);

		if (!c.is_damaged[i])
			continue;
		damage->blocks++;
		damage->records += head->records;
		add_time(damage, head->first, head->last);
	}
	free(c.is_damaged);
}

static bool is_begin(const struct tare_store *s, const struct tare_stored_log *log,
                     const struct tare_stored_block *block)
{
	return tare_store_head(s, block)->position_first <= log->part.begin;
}

/* Did the log begin behind the hole? Its first record is there then. */
static bool begins_behind(const struct tare_store *s, const struct tare_stored_log *log,
                          const struct tare_store_hole *hole)
{
	for (size_t i = 0; i < log->table_nr; i++)
		if (log->tables[i].segment >= hole->behind && is_begin(s, log, &log->tables[i]))
			return true;
	for (size_t i = 0; i < log->event_nr; i++)
		if (log->events[i].segment >= hole->behind && is_begin(s, log, &log->events[i]))
			return true;
	return false;
}

/* What of a log may have been in a hole lay between its events on both sides. */
static void add_hole(const struct tare_store *s, const struct tare_stored_log *log, const struct tare_store_hole *hole,
                     struct tare_store_damage *damage)
{
	uint64_t before = 0, behind = 0;

	for (size_t i = 0; i < log->event_nr; i++) {
		const struct tare_segment_block *head = tare_store_head(s, &log->events[i]);

		if (log->events[i].segment < hole->before && head->last > before)
			before = head->last;
		if (log->events[i].segment >= hole->behind && (!behind || head->first < behind))
			behind = head->first;
	}
	if ((!behind && log->part.is_finished) || begins_behind(s, log, hole))
		return;
	damage->is_uncounted = true;
	add_time(damage, before, behind ? behind : log->part.last_stamp);
}

struct tare_store_damage tare_store_missing(const struct tare_store *s, const struct tare_stored_log *log)
{
	struct tare_store_damage damage = { 0 };

	for (size_t i = 0; i < s->hole_nr; i++)
		add_hole(s, log, &s->holes[i], &damage);
	return damage;
}

struct tare_store_damage tare_store_check(const struct tare_store *s, const struct tare_stored_log *log)
{
	struct tare_store_damage damage = tare_store_missing(s, log);

	count_damaged(s, log->tables, log->table_nr, &damage);
	count_damaged(s, log->events, log->event_nr, &damage);
	return damage;
}
