/* SPDX-License-Identifier: Apache-2.0 */
/* What a capture keeps beyond its end, and whose kept memory a graph is given. */
#include "graphs/graphs.h"

#include "graphs/error.h"

#include <stdlib.h>

static int no_memory(void)
{
	return tare_graphs_fail(TARE_GRAPHS_HOST_MEMORY, "capture: no host memory");
}

int tare_capture_each_kept(const struct tare_capture *capture, int (*seen)(size_t chunk, void *arg), void *arg)
{
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < capture->kept_nr; i++)
		rc = tare_mapping_each(capture->mapping, capture->kept[i].offset, capture->kept[i].bytes, seen, arg);
	return rc;
}

static int avoid_chunk(size_t chunk, void *arg)
{
	return tare_mapping_avoid(arg, chunk);
}

int tare_reads_avoid(struct tare_capture *capture, const struct tare_capture *other)
{
	return tare_capture_each_kept(other, avoid_chunk, capture->mapping);
}

static int add_read(struct tare_capture *capture, const struct tare_capture *other)
{
	uint64_t *more;
	size_t i;

	for (i = 0; i < capture->reads_nr; i++)
		if (capture->reads[i] == other->id)
			return 0;
	more = realloc(capture->reads, (capture->reads_nr + 1) * sizeof(*more));
	if (!more)
		return no_memory();
	capture->reads = more;
	more[capture->reads_nr++] = other->id;
	return 0;
}

struct scan {
	struct tare_graphs *graphs;
	struct tare_capture *capture;
};

/*
 * Only what another capture keeps can be read: an address in other memory of that capture does not count.
 */
static int note_word(uint64_t word, void *arg)
{
	struct scan *scan = arg;
	const struct tare_capture *other = tare_capture_at(scan->graphs, word);
	size_t i;

	for (i = 0; other && i < other->kept_nr; i++)
		if (word - other->mapping->base - other->kept[i].offset < other->kept[i].bytes)
			return add_read(scan->capture, other);
	return 0;
}

static int has_chunk(size_t chunk, void *arg)
{
	return tare_mapping_has(arg, chunk);
}

/*
 * A graph may read outputs of an earlier capture. It must not share the memory of these, so its mapping moves:
 * the same addresses get other chunks.
 */
static int part_from_reads(struct tare_graphs *graphs, struct tare_capture *capture)
{
	bool must_move = false;
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < capture->reads_nr; i++) {
		const struct tare_capture *other = tare_capture_by_id(graphs, capture->reads[i]);

		if (!other)
			continue; /* it was dropped meanwhile: the launch will say so */
		must_move = must_move || tare_capture_each_kept(other, has_chunk, capture->mapping);
		rc = tare_reads_avoid(capture, other);
	}
	if (rc || !must_move)
		return rc;
	graphs->stats.moves++;
	return tare_mapping_move(capture->mapping, capture->bytes);
}

int tare_reads_find(struct tare_graphs *graphs, struct tare_capture *capture)
{
	struct scan scan = { graphs, capture };
	int rc = 0;

	if (graphs->shared)
		return 0;
	if (!(graphs->open.flags & TARE_GRAPHS_DECLARED))
		rc = tare_template_each_word(capture->tmpl, note_word, &scan);
	return rc ? rc : part_from_reads(graphs, capture);
}

static int add_kept(struct tare_capture *capture, uint64_t offset, uint64_t bytes)
{
	struct tare_graphs_kept *more = realloc(capture->kept, (capture->kept_nr + 1) * sizeof(*more));

	if (!more)
		return no_memory();
	capture->kept = more;
	more[capture->kept_nr++] = (struct tare_graphs_kept){ offset, bytes };
	return 0;
}

/* Finds what the capture keeps. Where the program did not say: all that was not freed. */
int tare_reads_find_kept(struct tare_graphs *graphs, struct tare_capture *capture)
{
	const struct tare_gpu_blocks *blocks = &graphs->open.blocks;
	size_t i;
	int rc = 0;

	for (i = 0; !graphs->open.says_kept && !rc && i < blocks->items_nr; i++)
		if (blocks->items[i].died == UINT64_MAX)
			rc = add_kept(capture, blocks->items[i].offset, blocks->items[i].bytes);
	return rc;
}

int tare_graphs_keep(struct tare_graphs *graphs, tare_graphs_address address, size_t bytes)
{
	struct tare_enter enter;
	uint64_t offset;
	int rc = tare_enter(&enter, graphs);

	if (rc)
		return rc;
	rc = tare_open_check(graphs, "keep");
	if (!rc) {
		offset = address - graphs->open.capture->mapping->base;
		graphs->open.says_kept = true;
		if (bytes && (offset >= graphs->open.blocks.high || bytes > graphs->open.blocks.high - offset))
			rc = tare_graphs_fail(TARE_GRAPHS_ARGUMENT, "keep: 0x%llx is no memory of this capture",
			                      (unsigned long long)address);
		else if (bytes)
			rc = add_kept(graphs->open.capture, offset, bytes);
	}
	return tare_leave(&enter, rc);
}

int tare_graphs_reads(struct tare_graphs *graphs, uint64_t key)
{
	const struct tare_capture *other;
	struct tare_enter enter;
	int rc = tare_enter(&enter, graphs);

	if (rc)
		return rc;
	rc = tare_open_check(graphs, "reads");
	other = tare_capture_find(graphs, key);
	if (!rc && !other)
		rc = tare_graphs_fail(TARE_GRAPHS_NO_KEY, "reads: key %llu was not captured", (unsigned long long)key);
	if (!rc)
		rc = add_read(graphs->open.capture, other);
	return tare_leave(&enter, rc);
}
