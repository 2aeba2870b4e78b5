/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the kind of memory that a mapping is. */
#include "weigh/place.h"

#include "base/array.h"
#include "base/text.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

const char *const tare_weigh_kind_names[] = {
#define TARE_WEIGH_KIND(KEY, NAME, HELP) NAME,
#include "weigh/kind.def"
};

static const struct rule {
	const char *pattern;
	enum tare_weigh_kind kind;
	const char *row;
} rules[] = {
#define TARE_WEIGH_RULE(PATTERN, KIND, ROW) { PATTERN, TARE_WEIGH_##KIND, ROW },
#include "weigh/rule.def"
#undef TARE_WEIGH_RULE
};

/* What has no name in a folder is always as good as deleted; of other files it is worth knowing. */
static const char *keep_name(struct tare_weigh_mappings *all, const char *name)
{
	const char *deleted = strstr(name, " (deleted)");

	if (deleted && (!strncmp(name, "/memfd:", 7) || !strncmp(name, "/SYSV", 5)))
		return tare_arena_strndup(&all->arena, name, (size_t)(deleted - name));
	return tare_arena_strdup(&all->arena, name);
}

void tare_weigh_keep(void *arg, const struct tare_smaps_mapping *mapping)
{
	struct tare_weigh_mappings *all = arg;
	struct tare_smaps_mapping *m;

	m = &TARE_APPEND(all->items, all->count, all->cap);
	*m = *mapping;
	m->name = keep_name(all, mapping->name);
	if (m->name[0] == '/') {
		*tare_strmap_put(&all->spans, m->name, NULL) += m->end - m->start;
		if (m->perms[2] == 'x')
			*tare_strmap_put(&all->run, m->name, NULL) = 1;
	}
	all->has_driver = all->has_driver || !strncmp(m->name, "/dev/nvidia", 11);
}

/* "/usr/lib/libc.so.6" → "libc.so.6" */
static bool is_library(const struct tare_weigh_mappings *all, const char *name)
{
	const char *so = strstr(tare_text_last_part(name), ".so");

	return tare_strmap_get(&all->run, name) || (so && (!so[3] || so[3] == '.' || so[3] == ' '));
}

/* What is private, has no name, and can be written. */
static bool is_plain(const struct tare_smaps_mapping *m)
{
	return !m->name[0] && !strcmp(m->perms, "rw-p");
}

static bool is_empty(const struct tare_smaps_mapping *m)
{
	return !m->name[0] && !strncmp(m->perms, "---", 3);
}

/*
 * An arena of glibc's malloc: memory at a multiple of its size, behind it the rest of that as addresses without
 * memory. One that is full has no rest.
 */
static bool is_arena(const struct tare_weigh_mappings *all, size_t at)
{
	const struct tare_smaps_mapping *m = &all->items[at], *next = m + 1;
	uint64_t size = all->items[all->count - 1].end >> 32 ? 64 << 20 : 1 << 20;
	uint64_t end = m->end;

	if (m->start % size)
		return false;
	if (at + 1 < all->count && is_empty(next) && next->start == m->end)
		end = next->end;
	return end - m->start >= size && end % size == 0 && end > m->end;
}

/*
 * The stack of a thread: where one has its stack pointer, and what has a guard page below it, as stacks of threads
 * that are gone and kept for the next.
 */
static bool is_stack(const struct tare_weigh_mappings *all, size_t at)
{
	const struct tare_smaps_mapping *m = &all->items[at], *below = m - 1;
	uint64_t most_guard = 1 << 20, least_stack = 16 << 10;

	if (tare_weigh_stacks_have(&all->stacks, m->start, m->end))
		return true;
	return at && is_empty(below) && below->end == m->start && below->end - below->start <= most_guard &&
	       m->end - m->start >= least_stack;
}

/* What a library has that is zero at first lies behind its data, and has no name. */
static const char *library_before(const struct tare_weigh_mappings *all, size_t at)
{
	const struct tare_smaps_mapping *m = &all->items[at], *before = m - 1;
	const uint64_t *span = at ? tare_strmap_get(&all->spans, before->name) : NULL;

	if (!span || before->end != m->start || before->perms[1] != 'w' || before->perms[3] != 'p' ||
	    m->end - m->start > *span)
		return NULL;
	return is_library(all, before->name) ? before->name : NULL;
}

static struct tare_weigh_place of_anonymous(const struct tare_weigh_mappings *all, size_t at)
{
	const struct tare_smaps_mapping *m = &all->items[at];
	const char *library;

	if (is_empty(m) && !m->bytes[TARE_SMAPS_PSS] && !tare_smaps_swap(m))
		return (struct tare_weigh_place){ TARE_WEIGH_RESERVED, "addresses", NULL };
	if (m->perms[2] == 'x')
		return (struct tare_weigh_place){ TARE_WEIGH_ANONYMOUS, "executable", NULL };
	if (m->perms[3] == 's')
		return (struct tare_weigh_place){ TARE_WEIGH_SHARED, "anonymous", NULL };
	if (!is_plain(m))
		return (struct tare_weigh_place){ TARE_WEIGH_ANONYMOUS, "mapped", NULL };
	if (is_arena(all, at))
		return (struct tare_weigh_place){ TARE_WEIGH_HEAP, "arenas", NULL };
	if (is_stack(all, at))
		return (struct tare_weigh_place){ TARE_WEIGH_STACKS, "threads", NULL };
	library = library_before(all, at);
	if (library)
		return (struct tare_weigh_place){ TARE_WEIGH_LIBRARIES, tare_text_last_part(library), library };
	return (struct tare_weigh_place){ TARE_WEIGH_ANONYMOUS, "mapped", NULL };
}

struct tare_weigh_place tare_weigh_place_of(const struct tare_weigh_mappings *all, size_t at)
{
	const struct tare_smaps_mapping *m = &all->items[at];
	const struct rule *r = rules;
	struct tare_weigh_place p;

	while (fnmatch(r->pattern, m->name, 0) != 0)
		r++; /* the last one matches all */
	if (!m->name[0])
		return of_anonymous(all, at);
	p = (struct tare_weigh_place){ r->kind, r->row, m->name };
	if ((p.kind == TARE_WEIGH_FILES && is_library(all, m->name)) ||
	    (p.kind == TARE_WEIGH_SHARED && tare_strmap_get(&all->run, m->name)))
		p.kind = TARE_WEIGH_LIBRARIES;
	if (p.kind == TARE_WEIGH_DRIVER && (m->is_pfn || m->is_io) && !m->bytes[TARE_SMAPS_RSS])
		p.kind = TARE_WEIGH_APERTURES;
	if (p.kind == TARE_WEIGH_SHARED && r->row && all->has_driver) {
		p.kind = TARE_WEIGH_PINNED;
		p.row = "host memory";
	}
	if (!p.row)
		p.row = tare_text_last_part(m->name);
	return p;
}
