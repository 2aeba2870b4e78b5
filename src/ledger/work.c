/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/work.h"

#include "ledger/fold.h"

#include "base/array.h"

#include <string.h>

/* ---- where in PyTorch a stack is ---- */

enum { THROUGH = -1 };

static const struct {
	int maker;
	const char *file, *function;
} makers[] = {
#define TARE_MAKER(KEY, file, function) { TARE_MAKER_##KEY, file, function },
#define TARE_THROUGH(file, function) { THROUGH, file, function },
#include "ledger/places.def"
#undef TARE_THROUGH
#undef TARE_MAKER
};

static int maker_of(const struct tare_line *line)
{
	for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++)
		if (strstr(line->file, makers[i].file) &&
		    (!*makers[i].function || !strcmp(line->function, makers[i].function)))
			return makers[i].maker;
	return THROUGH;
}

static uint64_t mix(uint64_t hash, const char *text, uint32_t line)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return (hash ^ line) * UINT64_C(0x9e3779b97f4a7c15);
}

/* Calls of modules are known by the one around them, the lines between and what is called. */
static uint32_t call_named(struct tare_fold *f, uint32_t around, uint64_t hash)
{
	bool is_new;
	uint64_t *known = tare_map_put(&f->call_of, mix(hash, "", around), &is_new);

	if (is_new) {
		if (!f->call_nr)
			f->call_nr = 1; /* 0 stands for none */
		f->calls = tare_array_reserve(f->calls, &f->call_cap, f->call_nr + 1, sizeof(*f->calls));
		f->calls[f->call_nr] = around;
		*known = f->call_nr++;
	}
	return (uint32_t)*known;
}

static uint32_t innermost_call(struct tare_fold *f, const struct tare_line_stack *stack)
{
	uint32_t call = 0;
	uint64_t hash = 0;

	for (uint32_t i = stack->depth; i-- > 0;) {
		const struct tare_line *line = &stack->lines[i];

		hash = mix(mix(hash, line->function, line->line), line->file, 0);
		if (i == 0 || maker_of(line) != TARE_MAKER_CALL)
			continue;
		call = call_named(f, call, mix(mix(hash, line[-1].function, 0), line[-1].file, 0));
		hash = 0;
	}
	return call;
}

static void look_at(struct tare_fold *f, struct tare_site *site)
{
	site->is_placed = true;
	site->maker = TARE_MAKER_PROGRAM;
	for (uint32_t i = 0; site->python && i < site->python->depth; i++) {
		int maker = maker_of(&site->python->lines[i]);

		if (maker == THROUGH)
			continue;
		site->maker = (uint8_t)maker;
		break;
	}
	if (site->python)
		site->call = innermost_call(f, site->python);
}

/* ---- sections and calls ---- */

static void begin_section(struct tare_work *w, enum tare_work_kind kind)
{
	if (w->kind == kind)
		return;
	if (w->kind != TARE_WORK_OTHER)
		w->before = w->kind;
	w->kind = (uint8_t)kind;
	w->section++;
	w->backwards += kind == TARE_WORK_BACKWARD;
	w->forwards += kind == TARE_WORK_FORWARD;
	if (kind == TARE_WORK_BACKWARD)
		w->forwards_then = w->forwards;
}

/* Leaves the calls that `call` is not in, and enters those that it is in. */
static void enter(struct tare_work *w, const struct tare_fold *f, uint32_t call)
{
	uint32_t chain[TARE_CALLS], n = 0, same = 0, at;

	for (at = call; at && n < TARE_CALLS; at = f->calls[at])
		chain[n++] = at;
	while (same < n && same < w->call_nr && w->calls[same].call == chain[n - 1 - same])
		same++;
	for (w->call_nr = same; w->call_nr < n; w->call_nr++)
		w->calls[w->call_nr] = (struct tare_call_now){ chain[n - 1 - w->call_nr], ++w->serials };
	w->call = call;
}

/* Others work beside or in between, whatever the program is at. */
static bool is_work(uint8_t maker)
{
	return maker == TARE_MAKER_PROGRAM || maker == TARE_MAKER_CALL || maker == TARE_MAKER_OPTIMIZER;
}

static enum tare_work_kind kind_of(const struct tare_work *w, const struct tare_live_block *b,
				   enum tare_maker maker)
{
	if (b->flags & TARE_TENSOR_BACKWARD)
		return TARE_WORK_BACKWARD;
	switch (maker) {
	case TARE_MAKER_CALL:
		return TARE_WORK_FORWARD;
	case TARE_MAKER_OPTIMIZER:
		return TARE_WORK_OPTIMIZER;
	case TARE_MAKER_PROGRAM:
		return TARE_WORK_OTHER;
	default:
		return (enum tare_work_kind)w->kind;
	}
}

/* Threads that load data or pin memory work beside; the one that calls modules tells. */
static bool is_teller(struct tare_work *w, uint32_t tid, enum tare_work_kind kind)
{
	if (kind == TARE_WORK_BACKWARD)
		return true;
	if (!w->has_tid || (!w->is_tid_sure && kind != TARE_WORK_OTHER)) {
		w->tid = tid;
		w->has_tid = true;
		w->is_tid_sure = kind != TARE_WORK_OTHER;
	}
	return w->tid == tid;
}

void tare_work_begin(struct tare_fold *f, struct tare_work *w, struct tare_live_block *b)
{
	struct tare_site *site = b->site ? &f->sites[b->site] : &f->no_site;
	enum tare_work_kind kind, own;
	bool is_in_call;

	if (!site->is_placed)
		look_at(f, site);
	kind = kind_of(w, b, (enum tare_maker)site->maker);
	if (is_teller(w, b->tid, kind)) {
		begin_section(w, kind);
		if (kind != TARE_WORK_BACKWARD && w->call != site->call)
			enter(w, f, site->call);
	}
	own = is_work(site->maker) || b->flags & TARE_TENSOR_BACKWARD ? kind : TARE_WORK_OTHER;
	is_in_call = own == TARE_WORK_FORWARD && w->call_nr;
	b->use = (struct tare_use){ .section = w->section,
				    .backwards = w->backwards,
				    .forwards = w->forwards,
				    .call = is_in_call ? w->calls[w->call_nr - 1].serial : 0,
				    .call_depth = (uint8_t)(is_in_call ? w->call_nr : 0),
				    .kind = (uint8_t)own,
				    .before = w->before,
				    .maker = site->maker,
				    .serial = ++f->block_serials };
	tare_passes_add(&w->passes, b);
	w->last_site = b->site;
	w->last_bytes = b->bytes;
	w->last_address = b->address;
}

/* Rule "twin": the same line made another of the same size meanwhile, so its call came again. */
static bool has_twin(const struct tare_work *w, const struct tare_live_block *b)
{
	return w->last_site == b->site && w->last_bytes == b->bytes && w->last_address != b->address;
}

static bool has_forward_first(const struct tare_work *w, const struct tare_use *use)
{
	return use->lived_backwards ? use->lived_backwards == 1 && w->forwards_then != use->forwards :
				      use->lived_forwards != 0;
}

void tare_work_now(const struct tare_work *w, const struct tare_live_block *b, struct tare_use *use)
{
	*use = b->use;
	use->in_its_section = use->section == w->section;
	use->lived_backwards = w->backwards - use->backwards;
	use->lived_forwards = w->forwards - use->forwards;
	use->forward_first = has_forward_first(w, use);
	use->has_stayed = tare_passes_has_stayed(&w->passes, b, w->backwards);
	use->outlived_call = !use->call_depth || use->call_depth > w->call_nr ||
			     w->calls[use->call_depth - 1].serial != use->call || has_twin(w, b);
}

void tare_work_end(struct tare_work *w, struct tare_live_block *b, uint16_t flags)
{
	if (flags & TARE_TENSOR_BACKWARD)
		begin_section(w, TARE_WORK_BACKWARD);
	tare_work_now(w, b, &b->use);
	if (flags & TARE_TENSOR_FINALIZING) /* it was there until the program's end */
		return;
	b->use.is_gone = true;
	b->use.in_backward = flags & TARE_TENSOR_BACKWARD;
	tare_passes_remove(&w->passes, b, w->backwards,
			   b->use.in_backward && !b->use.lived_backwards);
}
