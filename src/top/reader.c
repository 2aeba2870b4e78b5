/* SPDX-License-Identifier: Apache-2.0 */
/* Reads recordings in a thread, and hands over what it knows of them. */
#include "top/reader.h"

#include "base/now.h"
#include "base/xalloc.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

enum { END_MS = 300 };
#define SECOND  INT64_C(1000000000)
#define FIND_NS (2 * SECOND) /* how often recordings are looked for */

/* Where a recording is handed over. */
struct place {
	dev_t device;
	ino_t inode;
	struct tare_follow *fresh; /* not taken yet; NULL: what was taken last is all that is known */
	bool needs_readings;       /* as who shows it sees it */
};

struct tare_top_reader {
	struct tare_finder found; /* the thread's alone, as long as there is one */
	int64_t found_ns;
	void (*on_read)(void);
	pthread_t thread;
	pthread_mutex_t lock; /* of what is below */
	pthread_cond_t asked, over;
	bool is_asked, is_all, is_looking, is_ending, is_over;
	struct place *places; /* as many as were found, in their order */
	size_t place_nr;
};

/* ---- what the thread does ---- */

static struct place *place_of(const struct tare_top_reader *r, const struct tare_follow *f)
{
	for (size_t i = 0; i < r->place_nr; i++)
		if (r->places[i].device == f->device && r->places[i].inode == f->inode)
			return &r->places[i];
	return NULL;
}

/* A place for each that was found. Under the lock. */
static struct place *make_places(struct tare_top_reader *r)
{
	struct place *places = tare_xcalloc(r->found.count + 1, sizeof(*places));

	for (size_t i = 0; i < r->found.count; i++) {
		struct tare_follow *f = r->found.items[i];
		struct place *before = place_of(r, f);

		places[i] = before ? *before : (struct place){ f->device, f->inode, tare_follow_hand_over(f), false };
		if (before)
			before->fresh = NULL;
	}
	return places;
}

static void find(struct tare_top_reader *r)
{
	struct place *before;
	size_t nr;

	tare_find_turn(&r->found);
	r->found_ns = tare_now_ns(CLOCK_MONOTONIC);
	pthread_mutex_lock(&r->lock);
	before = r->places;
	nr = r->place_nr;
	r->places = make_places(r);
	r->place_nr = r->found.count;
	pthread_mutex_unlock(&r->lock);
	for (size_t i = 0; i < nr; i++)
		tare_follow_free(before[i].fresh);
	free(before);
}

static void hand_over(struct tare_top_reader *r, size_t i)
{
	struct tare_follow *told = tare_follow_hand_over(r->found.items[i]), *before;

	pthread_mutex_lock(&r->lock);
	before = r->places[i].fresh;
	r->places[i].fresh = told;
	if (before)
		tare_follow_keep(told, before);
	pthread_mutex_unlock(&r->lock);
	tare_follow_free(before);
}

/* False: it is to end. */
static bool take_wish(struct tare_top_reader *r, size_t i)
{
	bool goes_on;

	pthread_mutex_lock(&r->lock);
	r->found.items[i]->needs_readings = r->places[i].needs_readings;
	goes_on = !r->is_ending;
	pthread_mutex_unlock(&r->lock);
	return goes_on;
}

static void look(struct tare_top_reader *r, bool is_all)
{
	int64_t now = tare_now_ns(CLOCK_MONOTONIC);

	if (is_all || now - r->found_ns >= FIND_NS)
		find(r);
	for (size_t i = 0; i < r->found.count && take_wish(r, i); i++) {
		struct tare_follow *f = r->found.items[i];

		if (is_all)
			f->read_ns = 0;
		if (tare_follow_turn(f, now, false))
			hand_over(r, i);
	}
}

static void *run(void *arg)
{
	struct tare_top_reader *r = arg;

	pthread_mutex_lock(&r->lock);
	while (!r->is_ending) {
		bool is_all = r->is_all;

		if (!r->is_asked) {
			pthread_cond_wait(&r->asked, &r->lock);
			continue;
		}
		r->is_asked = r->is_all = false;
		r->is_looking = true;
		pthread_mutex_unlock(&r->lock);
		look(r, is_all);
		pthread_mutex_lock(&r->lock);
		r->is_looking = false;
		r->on_read();
	}
	r->is_over = true;
	pthread_cond_signal(&r->over);
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

/* ---- what the screen does ---- */

/* Signals are the screen's: it waits for them. */
static int start(struct tare_top_reader *r)
{
	static const int crashes[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL };
	sigset_t others, before;
	int rc;

	sigfillset(&others);
	for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		sigdelset(&others, crashes[i]);
	pthread_sigmask(SIG_BLOCK, &others, &before);
	rc = pthread_create(&r->thread, NULL, run, r);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

static void discard(struct tare_top_reader *r)
{
	for (size_t i = 0; i < r->place_nr; i++)
		tare_follow_free(r->places[i].fresh);
	free(r->places);
	tare_finder_free(&r->found);
	free(r);
}

struct tare_top_reader *tare_top_reader_begin(const struct tare_finder *wanted, void (*on_read)(void),
                                              struct tare_err *err)
{
	struct tare_top_reader *r = tare_xcalloc(1, sizeof(*r));
	int rc;

	r->found = *wanted;
	r->on_read = on_read;
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->asked, NULL);
	pthread_cond_init(&r->over, NULL);
	find(r);
	rc = start(r);
	if (!rc)
		return r;
	discard(r);
	tare_err_set_errno(err, rc, "a thread that reads recordings");
	return NULL;
}

void tare_top_reader_go(struct tare_top_reader *r, bool is_all)
{
	pthread_mutex_lock(&r->lock);
	if (!r->is_looking || is_all) {
		r->is_asked = true;
		r->is_all |= is_all;
		pthread_cond_signal(&r->asked);
	}
	pthread_mutex_unlock(&r->lock);
}

/* Of the list what is of that place, which is taken out of it; NULL: it was not there. */
static struct tare_follow *take_shown(struct tare_finder *found, const struct place *p)
{
	for (size_t i = 0; i < found->count; i++) {
		struct tare_follow *f = found->items[i];

		if (f && f->device == p->device && f->inode == p->inode) {
			found->items[i] = NULL;
			return f;
		}
	}
	return NULL;
}

/* Of a place what is to be shown of it; `old`: what was until now, and is no more. */
static struct tare_follow *renew(struct place *p, struct tare_finder *found, struct tare_follow **old)
{
	struct tare_follow *shown = take_shown(found, p), *fresh = p->fresh;

	p->needs_readings = shown && shown->needs_readings;
	if (!fresh)
		return shown;
	if (shown)
		tare_follow_keep(fresh, shown);
	p->fresh = NULL;
	*old = shown;
	return fresh;
}

void tare_top_reader_take(struct tare_top_reader *r, struct tare_finder *found)
{
	struct tare_follow **items, **old;
	size_t nr;

	pthread_mutex_lock(&r->lock);
	nr = r->place_nr;
	items = tare_xcalloc(nr + 1, sizeof(struct tare_follow *));
	old = tare_xcalloc(nr + 1, sizeof(struct tare_follow *));
	for (size_t i = 0; i < nr; i++)
		items[i] = renew(&r->places[i], found, &old[i]);
	pthread_mutex_unlock(&r->lock);
	for (size_t i = 0; i < nr; i++)
		tare_follow_free(old[i]);
	for (size_t i = 0; i < found->count; i++)
		tare_follow_free(found->items[i]);
	free(old);
	free(found->items);
	found->items = items;
	found->count = nr;
	found->cap = nr + 1;
}

/* False: it still reads. */
static bool wait_for_end(struct tare_top_reader *r)
{
	int64_t until = tare_now_ns(CLOCK_REALTIME) + END_MS * (SECOND / 1000);
	const struct timespec at = { until / SECOND, until % SECOND };
	bool is_over;

	pthread_mutex_lock(&r->lock);
	r->is_ending = true;
	pthread_cond_signal(&r->asked);
	while (!r->is_over && pthread_cond_timedwait(&r->over, &r->lock, &at) != ETIMEDOUT)
		;
	is_over = r->is_over;
	pthread_mutex_unlock(&r->lock);
	return is_over;
}

void tare_top_reader_end(struct tare_top_reader *r)
{
	if (!wait_for_end(r))
		return;
	pthread_join(r->thread, NULL);
	discard(r);
}
