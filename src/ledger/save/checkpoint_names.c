/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What scans of the program's objects said of live blocks, saved as one scan with whole names, which says
 * nothing of what it does not mention. A scan that had begun goes on behind it.
 */
#include "ledger/save/checkpoint_private.h"

#include <string.h>

enum { NAMES_MAX = 1 << 20, STRING_HEAD = 24 }; /* bytes of names, in one checkpoint of a process */

struct telling {
	struct checkpoint *c;
	const struct tare_process_fold *p;
	int64_t t;
	size_t bytes;
	bool is_any;
};

static const char *name_within(struct telling *tell, uint32_t name)
{
	const char *text = name ? tare_fold_text_of(tell->c->f, name) : NULL;
	size_t bytes = text ? strlen(text) + STRING_HEAD : 0;

	if (!text || !*text || tell->bytes + bytes > NAMES_MAX)
		return NULL;
	tell->bytes += bytes;
	return text;
}

static void add(struct telling *tell, const struct tare_probed *said)
{
	struct tare_rec_probe *r =
		&tare_checkpoint_add(tell->c, TARE_KIND_PROBE, tell->p->process, NULL, tell->t)
			 ->probe;

	r->at = said->at;
	r->of = said->of;
	r->role = said->role;
	r->flags = said->flags;
	tare_checkpoint_last(tell->c)->name = name_within(tell, said->name);
}

static void add_blocks(struct telling *tell, const struct tare_blocks *blocks)
{
	for (size_t i = 0; i < blocks->count; i++) {
		const struct tare_live_block *b = &blocks->items[i];

		if (b->process < 0 || !b->use.role)
			continue;
		add(tell, &(struct tare_probed){ .at = b->address,
						 .name = b->use.name,
						 .role = b->use.role,
						 .flags = b->use.role_flags });
		tell->is_any = true;
	}
}

void tare_checkpoint_names(struct checkpoint *c, const struct tare_process_fold *p, int64_t t)
{
	struct telling tell = { .c = c, .p = p, .t = t };

	for (int i = 0; i < p->place_nr; i++)
		if (p->places[i])
			add_blocks(&tell, &p->places[i]->blocks);
	add_blocks(&tell, &p->host_blocks);
	if (tell.is_any)
		tare_checkpoint_add(c, TARE_KIND_SWEEP, p->process, NULL, t)->sweep.flags =
			TARE_SWEEP_CUT;
	for (size_t i = 0; i < p->probes.count; i++)
		add(&tell, &p->probes.items[i]);
}
