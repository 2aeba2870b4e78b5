/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads the records of a checkpoint: they say what is booked, so none of the rules that explain a change is
 * asked.
 */
#include "ledger/save/save.h"

static int other_bucket(struct tare_fold *f, struct tare_device_fold *d, const struct tare_event *e)
{
	struct tare_other_process *p;
	int known;

	if (!e->rec.carry->context)
		return d->before;
	known = tare_other_process_find(d, (uint32_t)e->rec.carry->context);
	p = &d->others[known];
	if (!p->name && e->name)
		p->name = tare_arena_strdup(&f->arena, e->name);
	if (p->bucket < 0) {
		int bucket = tare_fold_bucket_of_device(f, d->index, TARE_ACCOUNT_OTHER,
							(uint64_t)known + 1);

		d->others[known].bucket = bucket;
	}
	return d->others[known].bucket;
}

/* Buckets that are no accounts, and their numbers in CARRY records. */
static const struct {
	int account, carry;
} carries[] = {
	{ TARE_BUCKET_PINNED, TARE_CARRY_PINNED },
	{ TARE_BUCKET_REGISTERED, TARE_CARRY_REGISTERED },
	{ TARE_BUCKET_TENSOR, TARE_CARRY_TENSOR },
	{ TARE_BUCKET_PARTLY, TARE_CARRY_PARTLY },
	{ TARE_BUCKET_HELD, TARE_CARRY_HELD },
	{ TARE_BUCKET_EVER_ALLOCATED, TARE_CARRY_EVER_ALLOCATED },
	{ TARE_BUCKET_TRIED, TARE_CARRY_TRIED },
	{ TARE_BUCKET_COLLECTED, TARE_CARRY_COLLECTED },
	{ TARE_BUCKET_UNEXPLAINED, TARE_CARRY_UNEXPLAINED },
};

enum { CARRY_NR = sizeof(carries) / sizeof(carries[0]) };

static int account_of(int carry)
{
	for (int i = 0; i < CARRY_NR; i++)
		if (carries[i].carry == carry)
			return carries[i].account;
	return carry < TARE_ACCOUNT_NR && carry != TARE_ACCOUNT_NONE ? carry : -1;
}

static int bucket_of(struct tare_fold *f, struct tare_device_fold *d, const struct tare_event *e)
{
	const struct tare_rec_carry *r = e->rec.carry;
	const struct tare_process *process = e->about ? e->about : e->process;
	int account = r->account, context;
	struct tare_origin origin;

	if (account == TARE_ACCOUNT_OTHER)
		return other_bucket(f, d, e);
	if (account == TARE_ACCOUNT_PAUSED)
		return tare_fold_paused_bucket(f, d);
	account = account_of(account);
	if (account < 0)
		return -1;
	origin = tare_fold_origin(f, tare_fold_process(f, process), e);
	if (r->python == TARE_PYTHON_BACKWARD)
		origin.site = tare_fold_site_of_backward(f, tare_fold_process(f, process), process);
	context = tare_fold_context(f, process->index, d->index, r->context);
	return tare_fold_bucket_at(f, context, account,
				   tare_account_has_owner(account) ? origin.owner : 0, origin.site);
}

void tare_load_carry(struct tare_fold *f, struct tare_device_fold *d, const struct tare_event *e)
{
	const struct tare_rec_carry *r = e->rec.carry;
	int bucket = bucket_of(f, d, e);
	struct tare_amount by = {
		.bytes = r->bytes, .low = r->low, .high = r->high, .count = r->count, .ns = r->ns
	};

	if (r->account == TARE_ACCOUNT_NONE) {
		d->unexplained_open +=
			r->bytes; /* not booked: a list of processes may explain it */
		return;
	}
	if (bucket < 0)
		return;
	if (by.bytes || by.low || by.high)
		by.evidence = (uint8_t)(1 + r->evidence);
	tare_fold_book(f, bucket, &by);
	if (tare_bucket_is_device(&f->buckets[bucket]))
		d->used += by.bytes;
	d->last_ns = e->at_ns;
}

/* Loads a live object, or a context that came or went: nothing overlaps in a checkpoint. */
void tare_load_step(struct tare_fold *f, struct tare_device_fold *d, const struct tare_step *s)
{
	struct tare_applied a;

	tare_fold_apply(f, s, &a);
	tare_fold_book_ops(f, f->ops.items, f->ops.count);
	d->used += a.known;
	d->last_ns = s->end;
}

/*
 * A group ends with a reading, whose value is not known where there is no counter. The very first one
 * only says what was in use at the start.
 */
void tare_load_reading(struct tare_fold *f, struct tare_device_fold *d, int64_t t, uint64_t used,
		       int source)
{
	bool is_start = !d->is_measured && used != TARE_NOT_KNOWN;

	if (used != TARE_NOT_KNOWN && source >= TARE_SOURCE_NVML2 && source <= TARE_SOURCE_CUDA)
		d->used = tare_fold_normal(f, d, used, source, d->used);
	d->last_ns = t;
	d->is_pause_open = f->is_paused; /* what came in an older pause is in a CARRY record */
	if (is_start)
		return;
	tare_fold_peak(f, d, t);
	tare_fold_peak_tensors(f, d, t);
	tare_fold_peak_host(f, t);
}
