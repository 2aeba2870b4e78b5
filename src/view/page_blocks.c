/* SPDX-License-Identifier: Apache-2.0 */
/* Single blocks of PyTorch's allocator over time, as data of a page: those that a picture can show, by the moments at which they were there. */
#include "view/page.h"

#include "base/emit.h"
#include "view/page_texts.h"

struct lists {
	struct tare_page_stack_list *stacks;
	struct tare_page_texts names, shapes;
};

/* [first moment, first moment without it, bytes, category, stack, name, shape, born, gone or -1] */
static void add_block(struct tare_emit *e, struct lists *lists, const struct tare_block_course *b)
{
	tare_emit_open(e, NULL, '[');
	tare_emit_uint(e, NULL, b->from);
	tare_emit_uint(e, NULL, b->until);
	tare_emit_int(e, NULL, b->bytes);
	tare_emit_int(e, NULL, b->category);
	tare_emit_int(e, NULL, tare_page_stack_of(lists->stacks, b->line));
	tare_emit_int(e, NULL, tare_page_texts_number(&lists->names, b->name));
	tare_emit_int(e, NULL, tare_page_texts_number(&lists->shapes, b->shape));
	tare_emit_int(e, NULL, b->born_ns);
	tare_emit_int(e, NULL, b->gone_ns);
	tare_emit_close(e);
}

/* When the moments were, and what was in blocks then. */
static void add_moments(struct tare_emit *e, const struct tare_block_memory *m)
{
	tare_emit_open(e, "t_ns", '[');
	for (size_t i = 0; i < m->moment_nr; i++)
		tare_emit_int(e, NULL, m->moments[i].t_ns);
	tare_emit_close(e);
	tare_emit_open(e, "bytes", '[');
	for (size_t i = 0; i < m->moment_nr; i++)
		tare_emit_int(e, NULL, m->moments[i].bytes);
	tare_emit_close(e);
}

static void add_memory(struct tare_emit *e, struct lists *lists, const struct tare_page *p,
                       const struct tare_block_memory *m)
{
	tare_emit_open(e, NULL, '{');
	if (m->device >= 0)
		tare_emit_int(e, "device", p->ledgers[0].devices[m->device].index);
	else
		tare_emit_null(e, "device");
	add_moments(e, m);
	tare_emit_uint(e, "smaller", m->smaller);
	tare_emit_open(e, "rows", '[');
	for (size_t i = 0; i < m->nr; i++)
		add_block(e, lists, &m->items[i]);
	tare_emit_close(e);
	tare_emit_close(e);
}

void tare_page_blocks(struct tare_emit *e, const struct tare_page *p, struct tare_page_stack_list *stacks)
{
	struct lists lists = { .stacks = stacks };

	tare_emit_open(e, "blocks", '{');
	tare_emit_open(e, "memories", '[');
	for (int i = 0; p->blocks && i < p->blocks->memory_nr; i++)
		add_memory(e, &lists, p, &p->blocks->memories[i]);
	tare_emit_close(e);
	tare_page_texts_emit(e, "names", &lists.names);
	tare_page_texts_emit(e, "shapes", &lists.shapes);
	tare_emit_close(e);
}
