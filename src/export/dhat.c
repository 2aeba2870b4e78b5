/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DHAT's JSON, version 2, as Valgrind's sources describe it: dh_view.html and the Firefox Profiler open it. A program point is a
 * stack: what it had at the moment that was asked for (DHAT's t-gmax), at the end, and in all.
 */
#include "base/json.h"
#include "base/number.h"
#include "base/xalloc.h"
#include "export/export.h"

#include <stdlib.h>

/* A stack at both moments; either may be missing. */
struct point {
	const struct tare_export_sample *at, *end;
	size_t ftbl_shift; /* of the frames of the one that is there */
};

static void add_frame(struct tare_json *j, const struct tare_export_frame *f)
{
	struct tare_str text = { 0 };

	if (f->file[0])
		tare_str_addf(&text, "0x0: %s (%s:%u:0)", f->function, f->file, (unsigned)f->line);
	else
		tare_str_add(&text, f->text);
	tare_json_str_n(j, NULL, tare_str_text(&text), text.len);
	tare_str_free(&text);
}

/* No size is below 0: what is explained beyond what is in use has no place here. */
static void add_pair(struct tare_json *j, const char *bytes, const char *blocks, int64_t size, uint64_t count)
{
	tare_json_i64(j, bytes, tare_most(size, 0));
	tare_json_u64(j, blocks, count);
}

static void add_point(struct tare_json *j, const struct point *p)
{
	static const struct tare_export_sample none;
	const struct tare_export_sample *at = p->at ? p->at : &none, *end = p->end ? p->end : &none;
	const struct tare_export_sample *shown = p->at ? p->at : p->end;
	const struct tare_export_sample *most = at->bytes > end->bytes ? at : end;

	tare_json_open(j, NULL, '{');
	add_pair(j, "tb", "tbk", tare_most(at->ever_bytes, end->ever_bytes), at->ever > end->ever ? at->ever : end->ever);
	tare_json_u64(j, "tl", 0);
	add_pair(j, "mb", "mbk", most->bytes, most->count);
	add_pair(j, "gb", "gbk", at->bytes, at->count);
	add_pair(j, "eb", "ebk", end->bytes, end->count);
	tare_json_open(j, "fs", '[');
	for (uint32_t i = shown->frame_nr; i--;)
		tare_json_u64(j, NULL, 1 + p->ftbl_shift + shown->frames[i]);
	tare_json_close(j);
	tare_json_close(j);
}

static void key_of(struct tare_str *key, const struct tare_export_stacks *s, const struct tare_export_sample *sample)
{
	tare_str_cut(key, 0);
	for (uint32_t i = 0; i < sample->frame_nr; i++) {
		tare_str_add(key, s->frames[sample->frames[i]].text);
		tare_str_add_char(key, '\n');
	}
}

static size_t pair_up(struct point *out, const struct tare_export *x)
{
	struct tare_strmap known = { 0 };
	struct tare_str key = { 0 };
	size_t nr = 0;

	for (size_t i = 0; i < x->stacks->nr; i++) {
		key_of(&key, x->stacks, &x->stacks->samples[i]);
		*tare_strmap_put(&known, tare_str_text(&key), NULL) = nr;
		out[nr++] = (struct point){ .at = &x->stacks->samples[i] };
	}
	for (size_t i = 0; i < x->end->nr; i++) {
		uint64_t *place;

		key_of(&key, x->end, &x->end->samples[i]);
		place = tare_strmap_get(&known, tare_str_text(&key));
		if (place)
			out[*place].end = &x->end->samples[i];
		else
			out[nr++] = (struct point){ .end = &x->end->samples[i], .ftbl_shift = x->stacks->frame_nr };
	}
	tare_str_free(&key);
	tare_strmap_free(&known);
	return nr;
}

static void add_head(struct tare_json *j, struct tare_export *x)
{
	int64_t end_us = tare_most(x->end_ledger->t_ns, 0) / 1000, at_us = end_us;

	if (x->ledger->t_ns >= 0)
		at_us = x->ledger->t_ns / 1000;
	else if (x->ledger->device_nr)
		at_us = tare_most(x->ledger->devices[0].t_ns, 0) / 1000;
	tare_json_u64(j, "dhatFileVersion", 2);
	tare_json_str(j, "mode", "heap");
	tare_json_str(j, "verb", "Allocated");
	tare_json_bool(j, "bklt", true);
	tare_json_bool(j, "bkacc", false);
	tare_json_str(j, "tu", "µs");
	tare_json_str(j, "Mtu", "s");
	tare_json_u64(j, "tuth", 0);
	tare_json_str(j, "cmd", x->title);
	tare_json_i64(j, "pid", x->ledger->host_nr ? x->ledger->hosts[0].pid : 0);
	tare_json_i64(j, "te", tare_most(end_us, at_us));
	tare_json_i64(j, "tg", at_us);
}

int tare_export_dhat(struct tare_str *out, struct tare_export *x, struct tare_err *err)
{
	struct tare_json j = { .out = out };
	struct point *points = tare_xcalloc(x->stacks->nr + x->end->nr + 1, sizeof(*points));
	size_t nr = pair_up(points, x);

	(void)err;
	tare_json_open(&j, NULL, '{');
	add_head(&j, x);
	tare_json_open(&j, "pps", '[');
	for (size_t i = 0; i < nr; i++)
		add_point(&j, &points[i]);
	tare_json_close(&j);
	tare_json_open(&j, "ftbl", '[');
	tare_json_str(&j, NULL, "[root]");
	for (size_t i = 0; i < x->stacks->frame_nr; i++)
		add_frame(&j, &x->stacks->frames[i]);
	for (size_t i = 0; i < x->end->frame_nr; i++)
		add_frame(&j, &x->end->frames[i]);
	tare_json_close(&j);
	tare_json_close(&j);
	tare_str_add_char(out, '\n');
	free(points);
	tare_export_note_stacks(x);
	tare_export_note(
		x,
		"a stack's total is what PyTorch's allocator handed out, and of other memory what was held then or at the end; how long blocks lived is not in it");
	return 0;
}
