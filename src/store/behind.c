/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that writes blocks of events behind the one that gathers them. It is made with the first block, so small pieces have none;
 * where none can be made, the caller writes.
 */
#include "store/behind.h"

#include "base/xalloc.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

enum { SLOTS = 2 /* one is written and one waits; the caller gathers a third */ };

struct slot {
	struct tare_segment_writer *writer;
	uint32_t log;
	struct tare_layouts layouts;
	struct tare_gathered records;
};

struct tare_behind {
	pthread_mutex_t mutex;
	pthread_cond_t is_changed;
	pthread_t thread;
	bool has_thread, ends;
	struct slot slots[SLOTS];
	unsigned given, written; /* slots, counted from the first on */
};

struct tare_behind *tare_behind_new(void)
{
	struct tare_behind *b = tare_xcalloc(1, sizeof(*b));

	pthread_mutex_init(&b->mutex, NULL);
	pthread_cond_init(&b->is_changed, NULL);
	return b;
}

static void write_slot(const struct slot *slot)
{
	tare_gathered_write(&slot->records, slot->writer, TARE_SEGMENT_EVENTS, slot->log, &slot->layouts);
}

static void *write_slots(void *arg)
{
	struct tare_behind *b = arg;

	pthread_mutex_lock(&b->mutex);
	for (;;) {
		struct slot *slot = &b->slots[b->written % SLOTS];

		while (b->written == b->given && !b->ends)
			pthread_cond_wait(&b->is_changed, &b->mutex);
		if (b->written == b->given)
			break;
		pthread_mutex_unlock(&b->mutex);
		write_slot(slot);
		pthread_mutex_lock(&b->mutex);
		b->written++;
		pthread_cond_signal(&b->is_changed);
	}
	pthread_mutex_unlock(&b->mutex);
	return NULL;
}

/* Signals are the caller's. */
static bool begin_thread(struct tare_behind *b)
{
	sigset_t all, before;

	if (b->has_thread)
		return true;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	b->has_thread = pthread_create(&b->thread, NULL, write_slots, b) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return b->has_thread;
}

void tare_behind_write(struct tare_behind *b, struct tare_segment_writer *w, uint32_t log,
                       const struct tare_layouts *layouts, struct tare_gathered *g)
{
	bool is_behind = begin_thread(b);
	struct tare_gathered gathered = *g;
	struct slot *slot;

	pthread_mutex_lock(&b->mutex);
	while (b->given - b->written == SLOTS)
		pthread_cond_wait(&b->is_changed, &b->mutex);
	slot = &b->slots[b->given % SLOTS];
	*g = slot->records;
	*slot = (struct slot){ w, log, *layouts, gathered };
	b->given += is_behind;
	pthread_cond_signal(&b->is_changed);
	pthread_mutex_unlock(&b->mutex);
	if (!is_behind)
		write_slot(slot);
	tare_gathered_clear(g);
}

void tare_behind_wait(struct tare_behind *b)
{
	pthread_mutex_lock(&b->mutex);
	while (b->given != b->written)
		pthread_cond_wait(&b->is_changed, &b->mutex);
	pthread_mutex_unlock(&b->mutex);
}

void tare_behind_free(struct tare_behind *b)
{
	pthread_mutex_lock(&b->mutex);
	b->ends = true;
	pthread_cond_signal(&b->is_changed);
	pthread_mutex_unlock(&b->mutex);
	if (b->has_thread)
		pthread_join(b->thread, NULL);
	for (int i = 0; i < SLOTS; i++)
		tare_gathered_free(&b->slots[i].records);
	pthread_cond_destroy(&b->is_changed);
	pthread_mutex_destroy(&b->mutex);
	free(b);
}
