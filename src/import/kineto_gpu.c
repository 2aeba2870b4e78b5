/* SPDX-License-Identifier: Apache-2.0 */
/* Makes segments and blocks of what torch.profiler says of one GPU. */
#include "import/kineto_gpu.h"

#include "base/array.h"
#include "base/bisect.h"
#include "import/torch_library.h"

#include <stdlib.h>

#define PAGE       (UINT64_C(2) << 20) /* PyTorch asks the driver for multiples of it */
#define PIECES_MAX 250000

#define REST   (TARE_KINETO_ADDRESS_MAX * 2)
#define BEFORE (TARE_KINETO_ADDRESS_MAX * 4)

static void tell_call(struct tare_kineto_gpu *g, enum tare_effect effect, enum tare_class class,
                      const struct tare_kineto_from *from, uint64_t at, uint64_t bytes)
{
	struct tare_rec_event rec =
		tare_torch_library_call(effect, class, (int)g->device, tare_import_string(g->out, "torch.profiler"));

	rec.tid = from->tid;
	rec.handle = at;
	rec.parent = class == TARE_CLASS_VMM_MAP ? at : 0;
	rec.asked = rec.granted = bytes;
	rec.python = from->python;
	tare_import_add(g->out, tare_import_later(g->out, from->t_ns), &rec, sizeof(rec), NULL, 0);
}

/*
 * Where it is not known what the allocator holds, memory comes and goes with tensors, to the byte, as only mapped memory does: its
 * handle is given back at once, and the mapping keeps it.
 */
static void tell_memory(struct tare_kineto_gpu *g, enum tare_effect effect, const struct tare_kineto_from *from,
                        uint64_t at, uint64_t bytes)
{
	if (g->knows_reserved) {
		tell_call(g, effect, TARE_CLASS_DEVICE, from, at, bytes);
		return;
	}
	if (effect == TARE_EFFECT_NEW)
		tell_call(g, effect, TARE_CLASS_VMM, from, at, bytes);
	tell_call(g, effect, TARE_CLASS_VMM_MAP, from, at, bytes);
	if (effect == TARE_EFFECT_NEW)
		tell_call(g, TARE_EFFECT_DEL, TARE_CLASS_VMM, from, at, bytes);
}

static void set_rest(struct tare_kineto_gpu *g, int64_t t_ns, uint64_t bytes)
{
	const struct tare_kineto_from nobody = { .t_ns = t_ns, .tid = 1, .python = g->no_line };

	if (bytes == g->rest)
		return;
	if (g->rest)
		tell_memory(g, TARE_EFFECT_DEL, &nobody, REST, g->rest);
	g->rest = bytes;
	if (bytes)
		tell_memory(g, TARE_EFFECT_NEW, &nobody, REST, bytes);
}

/* ---- pieces ---- */

/* The first piece that ends behind the address; `count`: none does. */
static size_t piece_at(const struct tare_kineto_gpu *g, uint64_t address)
{
	size_t low = 0;

	TARE_BISECT(low, g->count, i, g->pieces[i].at + g->pieces[i].size <= address);
	return low;
}

static bool add_piece(struct tare_kineto_gpu *g, size_t place, uint64_t begin, uint64_t end,
                      const struct tare_kineto_from *from)
{
	uint64_t from_least = place ? g->pieces[place - 1].at + g->pieces[place - 1].size : 0;
	uint64_t to_most = place < g->count ? g->pieces[place].at : TARE_KINETO_ADDRESS_MAX;
	uint64_t wide_begin = begin / PAGE * PAGE, wide_end = (end + PAGE - 1) / PAGE * PAGE;

	if (g->count == PIECES_MAX)
		return false;
	if (wide_begin < from_least)
		wide_begin = from_least;
	if (wide_end > to_most)
		wide_end = to_most;
	if (g->knows_reserved && wide_end - wide_begin <= g->rest) {
		begin = wide_begin;
		end = wide_end;
	}
	if (g->knows_reserved) {
		uint64_t bytes = end - begin;

		if (bytes > g->rest && bytes - g->rest > g->beyond)
			g->beyond = bytes - g->rest;
		set_rest(g, from->t_ns, bytes < g->rest ? g->rest - bytes : 0);
	}
	g->pieces = tare_array_reserve(g->pieces, &g->cap, g->count + 1, sizeof(*g->pieces));
	memmove(&g->pieces[place + 1], &g->pieces[place], (g->count - place) * sizeof(*g->pieces));
	g->pieces[place] = (struct tare_kineto_piece){ .at = begin, .size = end - begin };
	g->count++;
	g->covered += end - begin;
	tell_memory(g, TARE_EFFECT_NEW, from, begin, end - begin);
	return true;
}

/* There is memory wherever the block lies. */
static bool cover(struct tare_kineto_gpu *g, const struct tare_kineto_from *from, uint64_t address, uint64_t end)
{
	while (address < end) {
		size_t i = piece_at(g, address);
		uint64_t to = end;

		if (i < g->count && g->pieces[i].at <= address) {
			address = g->pieces[i].at + g->pieces[i].size;
			continue;
		}
		if (i < g->count && g->pieces[i].at < end)
			to = g->pieces[i].at;
		if (!add_piece(g, i, address, to, from))
			return false;
	}
	return true;
}

static void count_live(struct tare_kineto_gpu *g, uint64_t address, uint64_t end, int sign)
{
	for (size_t i = piece_at(g, address); i < g->count && g->pieces[i].at < end; i++)
		g->pieces[i].live += sign;
}

/* Pieces without blocks, from this one on, go until all others have no more than is held. */
static void give_back(struct tare_kineto_gpu *g, int64_t t_ns, uint64_t held, size_t first, size_t end)
{
	const struct tare_kineto_from nobody = { .t_ns = t_ns, .tid = 1 };
	size_t kept = first;

	for (size_t i = first; i < end; i++) {
		struct tare_kineto_piece p = g->pieces[i];

		if (p.live || g->covered <= held) {
			g->pieces[kept++] = p;
			continue;
		}
		g->covered -= p.size;
		tell_memory(g, TARE_EFFECT_DEL, &nobody, p.at, p.size);
	}
	if (kept < end)
		memmove(&g->pieces[kept], &g->pieces[end], (g->count - end) * sizeof(*g->pieces));
	g->count -= end - kept;
}

/* ---- what the trace tells ---- */

void tare_kineto_gpu_begin(struct tare_kineto_gpu *g, struct tare_import_out *out, int device, uint64_t reserved,
                           uint32_t no_line)
{
	*g = (struct tare_kineto_gpu){
		.out = out, .device = device, .no_line = no_line, .knows_reserved = reserved != TARE_NOT_KNOWN
	};
	if (g->knows_reserved)
		set_rest(g, 0, reserved);
}

static void tell_block(struct tare_kineto_gpu *g, const struct tare_kineto_from *from, uint64_t address, int64_t bytes)
{
	struct tare_rec_tensor rec = { .head = { .kind = TARE_KIND_TENSOR },
		                           .block = address,
		                           .bytes = bytes,
		                           .tid = from->tid,
		                           .device = (int16_t)g->device,
		                           .flags = from->flags,
		                           .python = bytes > 0 ? from->python : 0 };

	tare_import_add(g->out, tare_import_later(g->out, from->t_ns), &rec, sizeof(rec), NULL, 0);
}

void tare_kineto_gpu_before(struct tare_kineto_gpu *g, uint64_t bytes, uint32_t python)
{
	const struct tare_kineto_from from = { .tid = 1, .python = python };

	if (!bytes)
		return;
	g->before = (bytes + PAGE - 1) / PAGE * PAGE;
	if (g->before > g->rest)
		g->before = bytes;
	set_rest(g, 0, g->before < g->rest ? g->rest - g->before : 0);
	tell_memory(g, TARE_EFFECT_NEW, &from, BEFORE, g->before);
	tell_block(g, &from, BEFORE, (int64_t)bytes);
	g->allocated += bytes;
}

void tare_kineto_gpu_reserved(struct tare_kineto_gpu *g, int64_t t_ns, uint64_t reserved)
{
	uint64_t held = reserved > g->before ? reserved - g->before : 0;

	if (held == g->covered + g->rest)
		return;
	if (held < g->covered) {
		set_rest(g, t_ns, 0);
		give_back(g, t_ns, held, 0, g->count);
	}
	if (g->covered > held && g->covered - held > g->beyond)
		g->beyond = g->covered - held;
	set_rest(g, t_ns, held > g->covered ? held - g->covered : 0);
}

void tare_kineto_gpu_block(struct tare_kineto_gpu *g, const struct tare_kineto_from *from, uint64_t address,
                           uint64_t bytes)
{
	tare_kineto_gpu_block_gone(g, from, address); /* its end is not in the file */
	if (!cover(g, from, address, address + bytes)) {
		g->lost++;
		return;
	}
	count_live(g, address, address + bytes, 1);
	*tare_map_put(&g->blocks, address, NULL) = bytes;
	g->allocated += bytes;
	tell_block(g, from, address, (int64_t)bytes);
}

bool tare_kineto_gpu_block_gone(struct tare_kineto_gpu *g, const struct tare_kineto_from *from, uint64_t address)
{
	uint64_t bytes;

	if (!tare_map_remove(&g->blocks, address, &bytes))
		return false;
	count_live(g, address, address + bytes, -1);
	g->allocated -= bytes;
	tell_block(g, from, address, -(int64_t)bytes);
	if (!g->knows_reserved) /* what is cached is not known: nothing is */
		give_back(g, from->t_ns, 0, piece_at(g, address), piece_at(g, address + bytes));
	return true;
}
