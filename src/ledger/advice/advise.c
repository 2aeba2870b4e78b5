/* SPDX-License-Identifier: Apache-2.0 */
/* What can be done about the memory of a device at an instant: the rows of advice.def that hold. */
#include "ledger/advice/facts.h"

#include "base/array.h"
#include "base/comparator.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

/* ---- from the rows ---- */

static const struct tare_amount *amount_of(const struct tare_advise *a, const struct tare_bucket *b)
{
	return tare_fold_amount(a->f, b, a->moment);
}

/* Finds memory that libraries keep for themselves. */
static void find_owned(struct tare_advise *a, const struct tare_bucket *b)
{
	static const struct {
		const char *owner;
		enum tare_advice advice;
	} owners[] = {
		{ "cuBLAS", TARE_ADVICE_CUBLAS },
		{ "cuDNN", TARE_ADVICE_CUDNN },
	};
	const char *owner = b->owner ? tare_owner_name(a->f->owners[b->owner - 1]) : "";

	for (size_t i = 0; i < sizeof(owners) / sizeof(owners[0]); i++)
		if (!strcmp(owner, owners[i].owner))
			tare_fold_find(a, owners[i].advice,
			               &(struct tare_finding){ .bytes = amount_of(a, b)->bytes,
			                                       .name = owner,
			                                       .count = (uint64_t)amount_of(a, b)->count },
			               b->process);
}

static void find_bucket(struct tare_advise *a, const struct tare_bucket *b)
{
	struct tare_finding all = { .bytes = amount_of(a, b)->bytes,
		                        .name = "",
		                        .count = (uint64_t)amount_of(a, b)->count };

	switch (b->account) {
	case TARE_ACCOUNT_ALLOCATION:
		find_owned(a, b);
		return;
	case TARE_ACCOUNT_TRIAL:
		tare_fold_find(a, TARE_ADVICE_TRIAL, &all, b->process);
		return;
	case TARE_ACCOUNT_POOL_IDLE:
		tare_fold_find(a, TARE_ADVICE_POOL_IDLE, &all, b->process);
		return;
	case TARE_ACCOUNT_PREALLOCATED:
		all.name = "XLA";
		tare_fold_find(a, TARE_ADVICE_PREALLOCATION, &all, b->process);
		return;
	default:
		return;
	}
}

/* Finds pages that are not full, and how many allocations share them. */
static void find_granularity(struct tare_advise *a)
{
	struct tare_finding rest = { .name = "" };

	for (int i = a->d->buckets; i >= 0; i = a->f->buckets[i].next_of_device) {
		const struct tare_bucket *b = &a->f->buckets[i];

		if (b->account == TARE_ACCOUNT_GRANULARITY)
			rest.bytes += amount_of(a, b)->bytes;
		if (b->account == TARE_ACCOUNT_ALLOCATION)
			rest.count += (uint64_t)amount_of(a, b)->count;
	}
	tare_fold_find(a, TARE_ADVICE_GRANULARITY, &rest, -1);
}

static void add_other(struct tare_str *out, const struct tare_other_process *p)
{
	if (p && p->name)
		tare_str_addf(out, "%s (pid %u)", p->name, p->pid);
	else if (p)
		tare_str_addf(out, "pid %u", p->pid);
	else
		tare_str_add(out, "there before the recording");
}

static void find_others(struct tare_advise *a)
{
	TARE_FREED_BY(tare_str_free) struct tare_str name = { 0 };
	struct tare_finding all = { .name = "" };
	int64_t largest = 0;

	if (a->d->primary == TARE_SOURCE_CUDA)
		return; /* what of it is this program's own context nobody knows */
	for (int i = a->d->buckets; i >= 0; i = a->f->buckets[i].next_of_device) {
		const struct tare_bucket *b = &a->f->buckets[i];

		if (b->account != TARE_ACCOUNT_OTHER)
			continue;
		all.bytes += amount_of(a, b)->bytes;
		if (amount_of(a, b)->bytes <= largest)
			continue;
		largest = amount_of(a, b)->bytes;
		tare_str_cut(&name, 0);
		add_other(&name, b->owner ? &a->d->others[b->owner - 1] : NULL);
	}
	all.name = tare_str_text(&name);
	tare_fold_find(a, TARE_ADVICE_OTHERS, &all, -1);
}

/* ---- contexts ---- */

struct contexts {
	int64_t bytes, largest;
	uint64_t count;
};

static struct contexts contexts_of(const struct tare_advise *a, int process)
{
	struct contexts all = { 0 };

	for (size_t i = 0; i < a->f->context_nr; i++) {
		const struct tare_context *c = &a->f->contexts[i];
		int bucket = c->bucket_of[TARE_ACCOUNT_CONTEXT];
		const struct tare_amount *now;

		if (c->device != a->d->index || c->process != process || bucket < 0)
			continue;
		now = amount_of(a, &a->f->buckets[bucket]);
		if (now->count <= 0)
			continue;
		all.count++;
		all.bytes += now->bytes;
		all.largest = now->bytes > all.largest ? now->bytes : all.largest;
	}
	return all;
}

static void find_contexts(struct tare_advise *a)
{
	struct tare_finding processes = { .name = "" };
	int64_t largest = 0;

	for (int i = 0; i < a->f->process_nr; i++) {
		struct contexts own = contexts_of(a, i);

		if (!own.count)
			continue;
		processes.count++;
		processes.bytes += own.bytes;
		largest = own.bytes > largest ? own.bytes : largest;
		if (own.count > 1)
			tare_fold_find(a, TARE_ADVICE_CONTEXTS,
			               &(struct tare_finding){ .bytes = own.bytes - own.largest,
			                                       .name = a->f->processes[i]->process->program,
			                                       .count = own.count },
			               i);
	}
	processes.bytes -= largest;
	tare_fold_find(a, TARE_ADVICE_PROCESSES, &processes, -1);
}

/* ---- graphs: what their own rows say could be saved ---- */

static void find_graphs(struct tare_advise *a, const struct tare_ledger *ledger, int device)
{
	for (int i = 0; i < ledger->saving_nr; i++) {
		struct tare_finding finding = tare_graph_saving_finding(&ledger->savings[i]);

		if (ledger->savings[i].device == device)
			tare_fold_find(a, finding.advice, &finding, -1);
	}
}

/* ---- large accounts that have no advice of their own ---- */

static bool has_own(enum tare_account account)
{
	for (int i = 0; i < TARE_ADVICE_NR; i++)
		if (tare_advices[i].account == account)
			return true;
	return false;
}

static void find_accounts(struct tare_advise *a)
{
	int64_t sums[TARE_ACCOUNT_NR] = { 0 };

	for (int i = a->d->buckets; i >= 0; i = a->f->buckets[i].next_of_device)
		if (tare_bucket_is_device(&a->f->buckets[i]))
			sums[a->f->buckets[i].account] += amount_of(a, &a->f->buckets[i])->bytes;
	for (int i = 0; i < TARE_ACCOUNT_NR; i++)
		if (tare_accounts[i].less[0] && !has_own((enum tare_account)i))
			tare_fold_find(a, TARE_ADVICE_ACCOUNT,
			               &(struct tare_finding){
							   .account = (enum tare_account)i, .bytes = sums[i], .name = tare_accounts[i].label },
			               -1);
}

/* ---- what is worth a word ---- */

static void drop_small(struct tare_advise *a, const struct tare_device_ledger *d)
{
	uint64_t total = d->total != TARE_NOT_KNOWN ? d->total : d->used != TARE_NOT_KNOWN ? d->used : 0;
	size_t kept = 0;

	for (size_t i = 0; i < a->count; i++) {
		int64_t share = (int64_t)(total / 10000) * tare_advices[a->findings[i].advice].share;

		if (a->findings[i].bytes >= (share > TARE_MIB ? share : TARE_MIB))
			a->findings[kept++] = a->findings[i];
	}
	a->count = kept;
}

TARE_COMPARATOR(by_saving, struct tare_finding, TARE_FALLING(bytes) TARE_RISING(advice) TARE_ALPHABETIC(name))

static void say(struct tare_advise *a, struct tare_device_ledger *out)
{
	drop_small(a, out);
	if (a->count) {
		TARE_SORT(a->findings, a->count, by_saving);
		out->findings = tare_arena_alloc(a->memory, a->count * sizeof(*a->findings));
		memcpy(out->findings, a->findings, a->count * sizeof(*a->findings));
		out->finding_nr = (int)a->count;
	}
	free(a->findings);
}

void tare_fold_advise(const struct tare_fold *f, const struct tare_device_fold *d, enum tare_moment m, int64_t t,
                      const struct tare_ledger *ledger, struct tare_device_ledger *out)
{
	struct tare_advise a = { .f = f, .d = d, .moment = m, .t = t, .memory = ledger->memory };

	tare_facts_find(&a);
	for (int i = d->buckets; i >= 0; i = f->buckets[i].next_of_device)
		find_bucket(&a, &f->buckets[i]);
	tare_nccl_find(&a);
	find_contexts(&a);
	find_graphs(&a, ledger, out->index);
	if (d->is_measured)
		find_others(&a);
	find_granularity(&a);
	find_accounts(&a);
	say(&a, out);
}

void tare_ledger_advise_retained(const struct tare_ledger *ledger)
{
	for (int i = 0; i < ledger->device_nr; i++) {
		struct tare_device_ledger *d = &ledger->devices[i];
		struct tare_advise a = { .memory = ledger->memory };

		for (int k = 0; k < d->finding_nr; k++) {
			TARE_APPEND(a.findings, a.count, a.cap) = d->findings[k];
		}
		for (int k = 0; k < d->retained_nr; k++)
			tare_fold_find(&a, TARE_ADVICE_RETAINED,
			               &(struct tare_finding){ .bytes = d->retained[k].bytes,
			                                       .name = d->retained[k].line,
			                                       .count = d->retained[k].count },
			               -1);
		say(&a, d);
	}
}
