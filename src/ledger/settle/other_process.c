/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "other processes": processes that are not recorded, as NVML lists them. Their memory is in the books as
 * `other`: at first what was in use before the recording began, then what the lists say has changed.
 */
#include "ledger/settle/settle.h"

#include "base/array.h"
#include "record/bytes.h"

#include <stdlib.h>

/* NVML's figure for a process leaves out the driver's own state for it (8.8 MiB on an H200). */
#define APPEAR_BYTES (16 * TARE_MIB)
/* What others take or give back at once, if it is less than a context, is not taken for one that comes or goes. */
#define CONTEXT_BYTES (128 * TARE_MIB)

static bool other_process_is_recorded(const struct tare_fold *f, const struct tare_device_fold *d, uint32_t pid)
{
	for (int i = 0; i < f->process_nr; i++)
		if (tare_other_process_is(d, f->processes[i], pid))
			return true;
	return false;
}

/* Does a recorded process hold a context here? Then a list must have that process. */
static bool is_one_expected(const struct tare_fold *f, const struct tare_device_fold *d)
{
	for (int i = d->buckets; i >= 0; i = f->buckets[i].next_of_device) {
		const struct tare_bucket *b = &f->buckets[i];

		if (b->account == TARE_ACCOUNT_CONTEXT && b->now.bytes > 0 && !f->processes[b->process]->is_ended)
			return true;
	}
	return false;
}

static int add_other(struct tare_device_fold *d, uint32_t pid)
{
	TARE_APPEND(d->others, d->other_nr, d->other_cap) = (struct tare_other_process){ .pid = pid, .bucket = -1 };
	return (int)(d->other_nr - 1);
}

int tare_other_process_find(struct tare_device_fold *d, uint32_t pid)
{
	for (size_t i = 0; i < d->other_nr; i++)
		if (d->others[i].pid == pid)
			return (int)i;
	return add_other(d, pid);
}

/* Sets the row of another process to `bytes`; returns the change. */
static int64_t set_other(struct tare_fold *f, struct tare_device_fold *d, int other, int64_t bytes)
{
	struct tare_other_process *p = &d->others[other];
	int64_t by;

	if (p->bucket < 0 && bytes)
		p->bucket = tare_fold_bucket_of_device(f, d->index, TARE_ACCOUNT_OTHER, (uint64_t)other + 1);
	if (p->bucket < 0)
		return 0;
	by = bytes - f->buckets[p->bucket].now.bytes;
	tare_fold_book_bytes(f, p->bucket, by, TARE_EVIDENCE_WITNESS);
	return by;
}

struct list {
	bool is_known, has_ours;
	int64_t sum;
	int changed, changed_nr; /* a process that came or went, and how many did */
};

static void read_list(struct tare_fold *f, struct tare_device_fold *d, struct list *l)
{
	bool is_expected = is_one_expected(f, d);

	*l = (struct list){ .is_known = true, .changed = -1 };
	for (size_t i = 0; i < d->read_nr; i++)
		l->has_ours |= other_process_is_recorded(f, d, d->others[d->reads[i].other].pid);
	for (size_t i = 0; i < d->read_nr; i++) {
		struct tare_other_process *p = &d->others[d->reads[i].other];
		bool is_new = !p->is_seen;

		p->is_seen = p->is_listed = true;
		if (other_process_is_recorded(f, d, p->pid))
			p->is_ours = true;
		if (is_new && is_expected && !l->has_ours)
			p->is_ours = d->is_pid_mismatch = true;
		if (d->reads[i].used != TARE_NOT_KNOWN && p->most < (int64_t)d->reads[i].used)
			p->most = (int64_t)d->reads[i].used;
		if (p->is_ours)
			continue;
		if (d->reads[i].used == TARE_NOT_KNOWN) {
			l->is_known = false;
			continue;
		}
		if (!p->used) {
			l->changed = d->reads[i].other;
			l->changed_nr++;
		}
		p->used = (int64_t)d->reads[i].used;
		l->sum += p->used;
	}
	d->read_nr = 0;
	for (size_t i = 0; i < d->other_nr; i++) {
		struct tare_other_process *p = &d->others[i];

		if (!p->is_listed && p->used) {
			p->used = 0;
			l->changed = (int)i;
			l->changed_nr++;
		}
		p->is_listed = false;
	}
}

/* Does the list that waits say that others use more or less than before? */
bool tare_other_processes_have_moved(const struct tare_fold *f, const struct tare_device_fold *d)
{
	int64_t sum = 0;

	for (size_t i = 0; i < d->read_nr; i++)
		if (!other_process_is_recorded(f, d, d->others[d->reads[i].other].pid) && d->reads[i].used != TARE_NOT_KNOWN)
			sum += (int64_t)d->reads[i].used;
	return d->has_list && d->is_level_known && sum != d->level;
}

/*
 * What the device changed by when another process came or went, beyond NVML's figure for that process.
 */
static int64_t beyond(const struct tare_device_fold *d, const struct list *l, int64_t listed, int64_t rest)
{
	bool is_growth = listed > 0;
	bool is_end = !d->level != !l->sum; /* the first came, or the last one went */

	if ((!l->changed_nr && !is_end) || llabs(rest) > APPEAR_BYTES)
		return 0;
	if (l->changed_nr == 1 && llabs(listed) < CONTEXT_BYTES) /* else a call told of it before the list */
		is_growth = d->others[l->changed].used > 0;
	return (rest > 0) == is_growth ? rest : 0;
}

/* Books the list that was read. Returns by how much `other` changed. */
int64_t tare_other_processes_take_list(struct tare_fold *f, struct tare_device_fold *d, int64_t change)
{
	struct list l;
	bool is_first = !d->is_level_known;
	int64_t listed = 0, extra = 0, rows = 0;

	d->has_list = false;
	read_list(f, d, &l);
	if (!l.is_known) {
		d->is_level_known = false;
		return 0;
	}
	if (d->is_level_known) {
		listed = l.sum - d->level;
		extra = beyond(d, &l, listed, change + d->unexplained_open - listed);
		d->unexplained_open = 0;
	}
	d->level = l.sum;
	d->is_level_known = true;
	for (size_t i = 0; i < d->other_nr; i++) {
		struct tare_other_process *p = &d->others[i];

		if (!is_first && (int)i == l.changed && l.changed_nr == 1)
			p->extra = extra;
		rows += set_other(f, d, (int)i, p->used ? p->used + p->extra : 0);
	}
	tare_fold_book_bytes(f, d->before, listed + extra - rows, TARE_EVIDENCE_WITNESS);
	return listed + extra;
}

/* Is the process on the device? Its memory outlives a process for a moment, in NVML's list too. */
static bool is_on(const struct tare_fold *f, const struct tare_device_fold *d, int process)
{
	const struct tare_process_fold *p = f->processes[process];
	struct tare_process_on_device *place = p && d->index < p->on_device_nr ? p->on_device[d->index] : NULL;

	if (place && p->is_ended && !place->is_left)
		place->is_left = !tare_fold_process_bytes(f, d, process);
	return place && !place->is_left;
}

static int process_nr_on(const struct tare_fold *f, const struct tare_device_fold *d)
{
	int count = 0;

	for (int i = 0; i < f->process_nr; i++)
		count += is_on(f, d, i);
	return count;
}

static bool is_alone(const struct tare_device_fold *d)
{
	return d->device->program_nr <= 1;
}

/*
 * The recorder's readings tell what processes other than its own use, recorded ones too. They are of use only where
 * there are none.
 */
bool tare_fold_peer_is_of_use(const struct tare_device_fold *d, uint64_t peers)
{
	return tare_bytes_are_known(peers) && !d->is_pid_mismatch && is_alone(d);
}

/* Where others are recorded as well, but not now, the sum helps where nothing else tells what a call changed. */
bool tare_step_reads_others(const struct tare_fold *f, const struct tare_device_fold *d, const struct tare_step *s)
{
	return (s->flags & TARE_EVENT_PEERS) && tare_bytes_are_known(s->peers_before) &&
	       tare_bytes_are_known(s->peers_after) && !d->is_pid_mismatch &&
	       (is_alone(d) || (tare_classes[s->class].sizing == TARE_SIZING_WEIGHED && process_nr_on(f, d) <= 1));
}

/* Whichever they were: their rows go, and what they say of each other's bytes stands in `before`. */
static void forget_peers(struct tare_fold *f, struct tare_device_fold *d)
{
	for (size_t i = 0; i < d->other_nr; i++) {
		d->others[i].used = 0;
		tare_fold_book_bytes(f, d->before, -set_other(f, d, (int)i, 0), TARE_EVIDENCE_WITNESS);
	}
}

static int64_t set_level(struct tare_fold *f, struct tare_device_fold *d, int64_t level, int64_t by)
{
	d->level = level;
	d->is_level_known = true;
	tare_fold_book_bytes(f, d->before, by, TARE_EVIDENCE_WITNESS);
	if (!level)
		forget_peers(f, d);
	return by;
}

/* Processes that are not recorded use `level` now. Returns the change. */
int64_t tare_other_processes_take_level(struct tare_fold *f, struct tare_device_fold *d, uint64_t level)
{
	return set_level(f, d, (int64_t)level, d->is_level_known ? (int64_t)level - d->level : 0);
}

/*
 * Nobody told before what others use: of what was there first they had something between nothing and all. So what has
 * changed since is theirs, as far as that allows.
 */
static int64_t first_growth(const struct tare_fold *f, const struct tare_device_fold *d, int64_t level, int64_t change)
{
	int64_t least = level - f->buckets[d->before].now.bytes;

	return change < least ? least : change > level ? level : change;
}

/*
 * The same between two calls, in which the device changed by `change`. Who comes or goes does so with a context, and
 * moves what NVML leaves out, too.
 */
int64_t tare_fold_peer_level_between(struct tare_fold *f, struct tare_device_fold *d, uint64_t level, int64_t change)
{
	int64_t open = change + d->unexplained_open, listed, rest;

	if (!is_alone(d))
		return tare_other_processes_take_level(f, d, level);
	listed = d->is_level_known ? (int64_t)level - d->level : first_growth(f, d, (int64_t)level, open);
	rest = open - listed;
	set_level(f, d, (int64_t)level, listed);
	if (llabs(listed) < CONTEXT_BYTES || (rest > 0) != (listed > 0) || llabs(rest) > APPEAR_BYTES)
		return listed;
	tare_fold_book_bytes(f, d->before, rest, TARE_EVIDENCE_INFERRED);
	return listed + rest;
}
