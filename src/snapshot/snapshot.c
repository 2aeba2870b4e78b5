/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a memory snapshot, and tells what is in it as it comes. */
#include "snapshot/snapshot.h"

#include "base/xalloc.h"
#include "snapshot/pickle.h"

#include <stdlib.h>

struct tare_snapshot *tare_snapshot_new(void)
{
	struct tare_snapshot *s = tare_xcalloc(1, sizeof(*s));

	tare_intern_init(&s->intern);
	tare_pickle_know_words(s);
	s->facts.settings =
		(struct tare_snapshot_settings){ .max_split = -1, .expandable = -1, .overflowed = -1, .max_entries = -1 };
	return s;
}

void tare_snapshot_delete(struct tare_snapshot *s)
{
	if (!s)
		return;
	tare_intern_free(&s->intern);
	free(s);
}

static void forget(struct tare_snapshot *s)
{
	while (s->stack_count)
		tare_pickle_drop(s, &s->stack[--s->stack_count]);
	for (size_t i = 0; i < s->memo_pages; i++)
		free(s->memo[i]);
	free(s->memo);
	free(s->stack);
	free(s->containers);
	free(s->pools);
	tare_map_free(&s->pool_numbers);
	free(s->frames);
	free(s->blocks);
}

/* Everything but what texts and stacks are is forgotten afterwards. */
static int read_input(struct tare_snapshot *s, const struct tare_snapshot_sink *sink, struct tare_err *err)
{
	int rc;

	s->sink = sink;
	s->err = err;
	rc = tare_pickle_run(s);
	s->facts.bytes = tare_input_offset(&s->in);
	s->facts.lost_texts = s->intern.lost_texts;
	s->facts.lost_stacks = s->intern.lost_stacks;
	forget(s);
	tare_input_close(&s->in);
	return rc;
}

int tare_snapshot_read_from(struct tare_snapshot *s, const struct tare_snapshot_source *source,
                            const struct tare_snapshot_sink *sink, struct tare_err *err)
{
	tare_input_open(&s->in, source);
	return read_input(s, sink, err);
}

int tare_snapshot_read_bytes(struct tare_snapshot *s, const void *bytes, size_t size,
                             const struct tare_snapshot_sink *sink, struct tare_err *err)
{
	tare_input_open_bytes(&s->in, bytes, size);
	return read_input(s, sink, err);
}

const struct tare_snapshot_facts *tare_snapshot_facts(const struct tare_snapshot *s)
{
	return &s->facts;
}
