/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What scans of the program's objects said of live blocks, saved as one scan with whole names, which says
 * nothing of what it does not mention. A scan that had begun goes on behind it.
 */
#include "ledger/save/checkpoint_private.h"

#include <string.h>

enum { NAMES_MAX = 1 << 20, STRING_HEAD = 24 }; /* bytes of names, in one checkpoint of a process */

struct saving {
	struct checkpoint *c;
	const struct tare_process_fold *p;
	int64_t t;
	size_t bytes;
	bool is_any;
};

static const char *name_within(struct saving *saving, uint32_t name)
{
	const char *text = name ? tare_fold_text_of(saving->c->f, name) : NULL;
	size_t bytes = text ? strlen(text) + STRING_HEAD : 0;

	if (!text || !*text || saving->bytes + bytes > NAMES_MAX)
		return NULL;
	saving->bytes += bytes;
	return text;
}

static void add(struct saving *saving, const struct tare_scan_entry *said)
{
	struct tare_rec_probe *r = &tare_checkpoint_add(saving->c, TARE_KIND_PROBE,
							saving->p->process, NULL, saving->t)
					    ->probe;

	r->at = said->at;
	r->of = said->of;
	r->role = said->role;
	r->flags = said->flags;
	tare_checkpoint_last(saving->c)->name = name_within(saving, said->name);
}

static void add_blocks(struct saving *saving, const struct tare_blocks *blocks)
{
	for (size_t i = 0; i < blocks->count; i++) {
		const struct tare_live_block *b = &blocks->items[i];

		if (b->process < 0 || !b->use.role)
			continue;
		add(saving, &(struct tare_scan_entry){ .at = b->address,
						       .name = b->use.name,
						       .role = b->use.role,
						       .flags = b->use.role_flags });
		saving->is_any = true;
	}
}

void tare_checkpoint_names(struct checkpoint *c, const struct tare_process_fold *p, int64_t t)
{
	struct saving saving = { .c = c, .p = p, .t = t };

	for (int i = 0; i < p->on_device_nr; i++)
		if (p->on_device[i])
			add_blocks(&saving, &p->on_device[i]->blocks);
	add_blocks(&saving, &p->host_blocks);
	if (saving.is_any)
		tare_checkpoint_add(c, TARE_KIND_SWEEP, p->process, NULL, t)->sweep.flags =
			TARE_SWEEP_CUT;
	for (size_t i = 0; i < p->scanned.count; i++)
		add(&saving, &p->scanned.items[i]);
}
