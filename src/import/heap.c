/* SPDX-License-Identifier: Apache-2.0 */
/* Turns counts by place, as a heap profiler has them, into blocks of a recording. */
#include "import/heap.h"

#include "base/array.h"
#include "base/map.h"
#include "base/str.h"
#include "base/xalloc.h"

#include <stdlib.h>

/* What waits to be told; more is told in parts. */
enum { WAITING_MAX = 1 << 18 };

struct step {
	uint32_t place;
	int64_t bytes;
};

struct place {
	int64_t told, now;
	bool is_touched;
};

struct tare_import_heap {
	struct tare_import_out *out;
	int device;
	struct tare_strmap frames; /* text of it → id */
	uint32_t frame_nr;
	struct place *places; /* by id; 0: not known */
	size_t place_nr, place_cap;
	uint32_t *touched; /* places that have other bytes than were told */
	size_t touched_nr, touched_cap;
	struct step *waiting;
	size_t waiting_nr, waiting_cap;
	int64_t bytes, told_ns;
};

struct tare_import_heap *tare_import_heap_new(struct tare_import_out *out)
{
	struct tare_import_heap *h = tare_xcalloc(1, sizeof(*h));

	h->out = out;
	h->device = tare_import_board(out, "heap of the process", TARE_NOT_KNOWN);
	h->places = tare_array_reserve(h->places, &h->place_cap, 1, sizeof(*h->places));
	h->places[h->place_nr++] = (struct place){ 0 };
	return h;
}

void tare_import_heap_free(struct tare_import_heap *h)
{
	if (!h)
		return;
	tare_strmap_free(&h->frames);
	free(h->places);
	free(h->touched);
	free(h->waiting);
	free(h);
}

int tare_import_heap_device(const struct tare_import_heap *h)
{
	return h->device;
}

uint32_t tare_import_heap_frame(struct tare_import_heap *h, const char *file, const char *function, uint32_t line)
{
	struct tare_rec_line rec = { .head = { .kind = TARE_KIND_LINE }, .line = line };
	struct tare_str key = { 0 };
	uint64_t *id;
	bool is_new;

	tare_str_addf(&key, "%u\n%s\n%s", line, file, function);
	id = tare_strmap_put(&h->frames, tare_str_text(&key), &is_new);
	tare_str_free(&key);
	if (!is_new)
		return (uint32_t)*id;
	*id = rec.id = ++h->frame_nr;
	rec.file = tare_import_string(h->out, file);
	rec.function = tare_import_string(h->out, function);
	tare_import_add(h->out, 0, &rec, sizeof(rec), NULL, 0);
	return rec.id;
}

uint32_t tare_import_heap_place(struct tare_import_heap *h, const uint32_t *frames, size_t depth)
{
	struct tare_rec_line_stack rec = { .head = { .kind = TARE_KIND_LINE_STACK } };
	uint64_t ids[TARE_IMPORT_FRAMES_MAX];

	if (!depth)
		return 0;
	rec.id = (uint32_t)h->place_nr;
	if (depth > TARE_IMPORT_FRAMES_MAX)
		depth = TARE_IMPORT_FRAMES_MAX;
	rec.depth = (uint32_t)depth;
	for (size_t i = 0; i < depth; i++)
		ids[i] = frames[i];
	tare_import_add(h->out, 0, &rec, sizeof(rec), ids, rec.depth * sizeof(*ids));
	TARE_APPEND(h->places, h->place_nr, h->place_cap) = (struct place){ 0 };
	return rec.id;
}

static void change(struct tare_import_heap *h, struct tare_import_change by)
{
	by.class = TARE_CLASS_HEAP;
	tare_import_change(h->out, tare_import_later(h->out, h->told_ns), h->device, &by);
}

static int64_t untold(const struct tare_import_heap *h, size_t i)
{
	return h->places[h->touched[i]].now - h->places[h->touched[i]].told;
}

/* From `i` on, the next place that has more (sign 1) or less (-1); touched_nr: none. */
static size_t next(const struct tare_import_heap *h, size_t i, int sign)
{
	while (i < h->touched_nr && sign * untold(h, i) <= 0)
		i++;
	return i;
}

/* First what goes from place to place, then by how much all of it rises or falls. */
static void tell_touched(struct tare_import_heap *h)
{
	size_t more = next(h, 0, 1), less = next(h, 0, -1);

	while (more < h->touched_nr && less < h->touched_nr) {
		int64_t room = untold(h, more), left = -untold(h, less);
		int64_t moved = room < left ? room : left;

		change(h, (struct tare_import_change){
					  .place = h->touched[more], .from = h->touched[less], .moved = (uint64_t)moved });
		h->places[h->touched[more]].told += moved;
		h->places[h->touched[less]].told -= moved;
		more = next(h, more, 1);
		less = next(h, less, -1);
	}
	for (size_t i = 0; i < h->touched_nr; i++) {
		struct place *p = &h->places[h->touched[i]];

		if (p->now != p->told)
			change(h, (struct tare_import_change){ .place = h->touched[i], .bytes = p->now - p->told });
		p->told = p->now;
		p->is_touched = false;
	}
	h->touched_nr = 0;
}

static void take(struct tare_import_heap *h, const struct step *s)
{
	struct place *p = &h->places[s->place];

	p->now += s->bytes;
	if (p->is_touched)
		return;
	p->is_touched = true;
	TARE_APPEND(h->touched, h->touched_nr, h->touched_cap) = s->place;
}

/* How many of the waiting ones lead to the moment with most. */
static size_t most_of(const struct tare_import_heap *h)
{
	int64_t sum = 0, most = 0;
	size_t at = 0;

	for (size_t i = 0; i < h->waiting_nr; i++) {
		sum += h->waiting[i].bytes;
		if (sum > most) {
			most = sum;
			at = i + 1;
		}
	}
	return at;
}

static void tell(struct tare_import_heap *h)
{
	size_t most = most_of(h);

	for (size_t i = 0; i < h->waiting_nr; i++) {
		take(h, &h->waiting[i]);
		if (i + 1 == most)
			tell_touched(h);
	}
	tell_touched(h);
	h->waiting_nr = 0;
}

void tare_import_heap_tell(struct tare_import_heap *h, int64_t t_ns)
{
	h->told_ns = t_ns;
	tell(h);
}

void tare_import_heap_add(struct tare_import_heap *h, uint32_t place, int64_t bytes)
{
	if (h->waiting_nr == WAITING_MAX)
		tell(h);
	TARE_APPEND(h->waiting, h->waiting_nr, h->waiting_cap) = (struct step){ place, bytes };
	h->bytes += bytes;
}

void tare_import_heap_clear(struct tare_import_heap *h)
{
	tell(h);
	for (uint32_t i = 0; i < h->place_nr; i++)
		if (h->places[i].now)
			tare_import_heap_add(h, i, -h->places[i].now);
}

uint64_t tare_import_heap_bytes(const struct tare_import_heap *h)
{
	return h->bytes > 0 ? (uint64_t)h->bytes : 0;
}
