/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What fewer channels or smaller buffers of NCCL would save, by the law of docs/RESIDUE.md ("NCCL"). A communicator takes two pieces
 * of 2 MiB, and three for each channel of messages, whose number is a power of two. Its first collective takes for each channel a piece
 * for the buffers and one of 2 MiB, its first message to a peer a piece of 2 MiB for each channel, the first from a peer the buffers.
 * How many pieces there are, and their sum, tell channels and buffers. Where they are not of that form, nothing is said.
 */
#include "ledger/advice/facts.h"
#include "ledger/owner.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

/* FEW channels, and the buffers of a channel with NCCL_BUFFSIZE=1048576: what is advised. By default a channel's buffers are 10 MiB. */
enum { PIECE_MIB = 2, FEW = 8, SMALL_MIB = 8, DEFAULT_MIB = 10 };

/* Memory for one thing, by MiB and by allocations. */
struct taken {
	int64_t mib, pieces;
};

/* Of one communicator of a process. */
struct comm {
	int process;
	const char *name; /* "communicator 2", not ended */
	size_t len;
	struct taken made, collectives, messages;
};

/* What a communicator is by the law: channels of messages and of collectives, MiB of buffers of a channel, peers that sent to it. */
struct form {
	int64_t p, channels, buffers, senders;
};

struct comms {
	struct comm *items;
	size_t count, cap;
};

static bool is_word(const char *word, size_t len, const char *text)
{
	return word && len == strlen(text) && !strncmp(word, text, len);
}

static struct comm *comm_of(struct comms *all, int process, const char *name, size_t len)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->items[i].process == process && all->items[i].len == len && !strncmp(all->items[i].name, name, len))
			return &all->items[i];
	TARE_APPEND(all->items, all->count, all->cap) = (struct comm){ .process = process, .name = name, .len = len };
	return &all->items[all->count - 1];
}

static void take(struct taken *taken, const struct tare_amount *amount, bool is_for)
{
	taken->mib += is_for ? amount->bytes / TARE_MIB : 0;
	taken->pieces += is_for ? amount->count : 0;
}

static void add(struct comms *all, const struct tare_fold *f, const struct tare_bucket *b,
                const struct tare_amount *amount)
{
	bool may_be = b->owner && (b->account == TARE_ACCOUNT_VMM || b->account == TARE_ACCOUNT_ALLOCATION);
	const char *rest = may_be ? f->owners[b->owner - 1] : NULL;
	size_t len, part_len = 0;
	const char *name = tare_owner_part(&rest, &len), *part;
	struct comm *c;

	if (!name || strcmp(tare_owner_name(name), "NCCL") != 0)
		return;
	name = tare_owner_part(&rest, &len);
	part = tare_owner_part(&rest, &part_len);
	if (!part)
		return;
	c = comm_of(all, b->process, name, len);
	take(&c->made, amount, is_word(part, part_len, "made"));
	take(&c->collectives, amount, is_word(part, part_len, "collectives"));
	take(&c->messages, amount, is_word(part, part_len, "messages"));
}

/* False: its collectives are not by the law. */
static bool read_collectives(const struct taken *taken, struct form *form)
{
	int64_t channels = taken->pieces / 2;

	if (!channels)
		return taken->pieces == 0;
	form->channels = channels;
	form->buffers = taken->mib / channels - PIECE_MIB;
	return taken->pieces % 2 == 0 && taken->mib % channels == 0 && channels <= form->p && 2 * channels > form->p &&
	       form->buffers > PIECE_MIB;
}

/* The same of its messages: `peers` directions, of which those from a peer have buffers. */
static bool read_messages(const struct taken *taken, struct form *form)
{
	int64_t peers = taken->pieces / form->p, more = taken->mib / form->p - PIECE_MIB * peers;

	form->senders = more / (form->buffers - PIECE_MIB);
	return taken->pieces % form->p == 0 && taken->mib % form->p == 0 && more >= 0 &&
	       more % (form->buffers - PIECE_MIB) == 0 && form->senders <= peers;
}

/* False: what was taken when it was made is not by the law. What is not by it of the rest counts as not there. */
static bool read_form(const struct comm *c, struct form *form)
{
	*form = (struct form){ .p = (c->made.mib / PIECE_MIB - 2) / 3, .buffers = DEFAULT_MIB };
	if (form->p < 1 || form->p & (form->p - 1) || c->made.mib != (2 + 3 * form->p) * PIECE_MIB)
		return false;
	if (!read_collectives(&c->collectives, form))
		*form = (struct form){ .p = form->p, .buffers = DEFAULT_MIB };
	return true;
}

/* MiB that it would not take with few channels. */
static int64_t saved_by_channels(const struct comm *c, const struct form *form)
{
	struct form messages = *form;
	int64_t sum = 3 * (form->p - FEW) * PIECE_MIB;

	if (form->p <= FEW)
		return 0;
	if (form->channels > FEW)
		sum += (form->channels - FEW) * (form->buffers + PIECE_MIB);
	return sum + (read_messages(&c->messages, &messages) ? c->messages.mib / form->p * (form->p - FEW) : 0);
}

/* MiB that it would not take with small buffers. */
static int64_t saved_by_buffers(const struct comm *c, struct form form)
{
	if (!read_messages(&c->messages, &form))
		form.senders = 0;
	return form.buffers > SMALL_MIB ? (form.buffers - SMALL_MIB) * (form.channels + form.senders * form.p) : 0;
}

static void find(struct tare_advise *a, const struct comm *c)
{
	struct tare_finding finding = { .name = "NCCL", .count = 1 };
	struct form form;

	if (!read_form(c, &form))
		return;
	finding.bytes = saved_by_channels(c, &form) * TARE_MIB;
	tare_fold_find(a, TARE_ADVICE_NCCL_CHANNELS, &finding, c->process);
	finding.bytes = saved_by_buffers(c, form) * TARE_MIB;
	tare_fold_find(a, TARE_ADVICE_NCCL_BUFFERS, &finding, c->process);
}

void tare_nccl_find(struct tare_advise *a)
{
	struct comms all = { 0 };

	for (int i = a->d->buckets; i >= 0; i = a->f->buckets[i].next_of_device) {
		const struct tare_bucket *b = &a->f->buckets[i];

		add(&all, a->f, b, tare_fold_amount(a->f, b, a->moment));
	}
	for (size_t i = 0; i < all.count; i++)
		find(a, &all.items[i]);
	free(all.items);
}
