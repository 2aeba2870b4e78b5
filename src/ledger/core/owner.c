/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "owner": an allocation belongs to the first object on the stack, from the innermost frame
 * out, that is neither the CUDA driver, nor its runtime, nor Tare.
 */
#include "ledger/owner.h"

#include "base/array.h"
#include "base/str.h"
#include "base/text.h"
#include "ledger/core/fold.h"
#include "ledger/line.h"

#include <stdlib.h>
#include <string.h>

enum { PART_MAX = 63 }; /* as the recorder says them; longer ones are damage */

/* Of memory of the host the C library owns only what nobody called it for, as it starts. */
static uint64_t of_heap(const struct tare_process *p, const struct tare_stack *stack)
{
	uint64_t pc = tare_line_first(p, stack, tare_owner_is_of_language);

	return pc ? pc : tare_line_native(p, stack);
}

static bool is_of_heap(const struct tare_event *e)
{
	return e->kind == TARE_KIND_HEAP_BLOCK;
}

static const char *owner_at(const struct tare_process *p, const struct tare_stack *stack, uint64_t pc)
{
	const struct tare_object *o = pc ? tare_process_object(p, stack, pc - 1) : NULL;

	return o ? o->path : NULL;
}

static const char *owner_of(const struct tare_process *p, const struct tare_stack *stack)
{
	return owner_at(p, stack, tare_line_first(p, stack, tare_owner_is_transparent));
}

/*
 * What an object is called as an owner. Python names extension modules after its own version and
 * machine; what tells them apart is their package: ".../site-packages/cupy/.../runtime.cpython-312-….so"
 * is "cupy.runtime".
 */
static char *owner_label(const char *path)
{
	const char *base = tare_text_last_part(path), *tag = strstr(base, ".cpython-"), *package;
	struct tare_str label = { 0 };

	if (!tag)
		return tare_xstrdup(base);
	package = strstr(path, "-packages/");
	if (package) {
		package += strlen("-packages/");
		if (package != base)
			tare_str_addf(&label, "%.*s.", (int)strcspn(package, "/"), package);
	}
	tare_str_add_n(&label, base, (size_t)(tag - base));
	return tare_str_steal(&label);
}

uint64_t tare_fold_text(struct tare_fold *f, const char *text)
{
	uint64_t *id;
	bool is_new;

	if (!text || !*text)
		return 0;
	id = tare_strmap_put(&f->owner_ids, text, &is_new);
	if (is_new) {
		TARE_APPEND(f->owners, f->owner_nr, f->owner_cap) = tare_arena_strdup(&f->arena, text);
		*id = f->owner_nr;
	}
	return *id;
}

const char *tare_fold_text_of(const struct tare_fold *f, uint64_t id)
{
	return id && id <= f->owner_nr ? f->owners[id - 1] : NULL;
}

/* "libcublas.so.12" and "libcublas-1a2b.so.12.1" are told apart; their versions are not. */
static char *without_version(const char *name)
{
	const char *so = strstr(name, ".so");

	return tare_xstrndup(name, so && so != name ? (size_t)(so - name) : strlen(name));
}

uint64_t tare_fold_owner_named(struct tare_fold *f, const char *name)
{
	uint64_t id;
	char *text;

	if (!name || !*name)
		return 0;
	text = without_version(name);
	id = tare_fold_text(f, text);
	free(text);
	return id;
}

uint64_t tare_fold_owner_part(struct tare_fold *f, uint64_t owner, const char *part)
{
	const char *name = tare_fold_text_of(f, owner);
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };

	if (!name || strcmp(tare_owner_name(name), "NCCL") != 0 ||
	    strlen(part) > PART_MAX) /* it is told of threads, and others may ask there */
		return owner;
	tare_str_addf(&text, "%s: %s", name, part);
	owner = tare_fold_text(f, tare_str_text(&text));
	return owner;
}

bool tare_owner_is_pool_of(const struct tare_process *p, const struct tare_stack *stack)
{
	const char *path = stack ? owner_of(p, stack) : NULL;
	TARE_FREED_HERE char *name = path ? without_version(tare_text_last_part(path)) : NULL;
	bool is_pool = name && tare_owner_is_pool(name);

	return is_pool;
}

static bool is_binding(const char *label)
{
	return !strncmp(label, "libffi", 6) || !strncmp(label, "_ctypes", 7) ||
	       !strncmp(label, "cuda.", 5); /* cuda-python */
}

/* Of what Python code calls by ctypes or cuda-python, as Numba does, the owner is that code's package, if it is in one. */
static char *name_package(char *label, const struct tare_line_stack *python)
{
	const char *package = python->depth ? strstr(python->lines[0].file, "-packages/") : NULL;
	size_t len;

	if (!package)
		return label;
	package += strlen("-packages/");
	len = strcspn(package, "/");
	if (!len || !package[len])
		return label;
	free(label);
	return tare_xstrndup(package, len);
}

static const char *owner_path(const struct tare_event *e)
{
	if (!e->stack)
		return NULL;
	return is_of_heap(e) ? owner_at(e->process, e->stack, of_heap(e->process, e->stack))
	                     : owner_of(e->process, e->stack);
}

static uint64_t owner_of_event(struct tare_fold *f, const struct tare_event *e)
{
	const char *path;
	char *label;
	uint64_t owner;

	path = owner_path(e);
	label = path ? owner_label(path) : NULL;
	if (label && e->python && is_binding(label))
		label = name_package(label, e->python);
	owner = tare_fold_owner_named(f, label);
	free(label);
	return owner;
}

static uint32_t site_with(struct tare_fold *f, struct tare_process_fold *p, uint64_t key, const struct tare_site *site)
{
	uint64_t *known;
	bool is_new;

	known = tare_map_put(&p->site_of, key, &is_new);
	if (is_new) {
		if (!f->site_nr)
			f->site_nr = 1; /* 0 stands for none */
		f->sites = tare_array_reserve(f->sites, &f->site_cap, f->site_nr + 1, sizeof(*f->sites));
		if (f->site_nr == 1)
			f->sites[0] = (struct tare_site){ 0 };
		f->sites[f->site_nr] = *site;
		*known = f->site_nr++;
	}
	return (uint32_t)*known;
}

/* Native sites are told apart by the whole stack, as those of Python are; its id is none of a stack of Python. */
static uint64_t native_key(const struct tare_event *e)
{
	return UINT64_C(1) << 62 | e->stack->id;
}

static uint32_t site_of(struct tare_fold *f, struct tare_process_fold *p, const struct tare_event *e)
{
	bool is_python = e->python && e->python->depth;
	uint64_t pc = 0;

	if (!is_python && e->stack)
		pc = is_of_heap(e) ? of_heap(e->process, e->stack) : tare_line_native(e->process, e->stack);
	if (!is_python && !pc)
		return 0;
	return site_with(f, p, is_python ? e->python->id : native_key(e),
	                 &(struct tare_site){ .process = e->process,
	                                      .python = is_python ? e->python : NULL,
	                                      .stack = is_python ? NULL : e->stack,
	                                      .pc = pc });
}

uint32_t tare_fold_site_of_backward(struct tare_fold *f, struct tare_process_fold *p,
                                    const struct tare_process *process)
{
	return site_with(f, p, 1ull << 63, &(struct tare_site){ .process = process, .is_backward = true });
}

uint32_t tare_fold_site(struct tare_fold *f, struct tare_process_fold *p, const struct tare_event *e)
{
	struct tare_site_memo *memo;

	if (!e->python || !e->python->depth)
		return e->stack ? site_of(f, p, e) : 0;
	memo = &p->site_memo[e->python->id % TARE_SITE_MEMO];
	if (memo->python != e->python->id || !memo->site)
		*memo = (struct tare_site_memo){ e->python->id, site_of(f, p, e) };
	return memo->site;
}

void tare_fold_site_add_native(struct tare_str *out, const struct tare_site *site, bool is_full)
{
	if (site->is_backward)
		tare_str_add(out, "backward (autograd's threads, no Python line)");
	else
		tare_line_add_native(out, site->process, site->stack, site->pc, is_full);
}

const char *tare_fold_site_name(const struct tare_fold *f, uint32_t at, bool is_full, struct tare_arena *memory)
{
	const struct tare_site *site = at ? &f->sites[at] : NULL;
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };

	if (!site)
		return NULL;
	if (site->python)
		tare_line_add(&text, tare_line_of_user(site->python), is_full);
	else
		tare_fold_site_add_native(&text, site, is_full);
	return tare_arena_strdup(memory, tare_str_text(&text));
}

static bool is_of_backward(const struct tare_event *e)
{
	return e->kind == TARE_KIND_EVENT && e->rec.event->flags & TARE_EVENT_BACKWARD && !(e->python && e->python->depth);
}

struct tare_origin tare_fold_origin(struct tare_fold *f, struct tare_process_fold *p, const struct tare_event *e)
{
	uint64_t key, *known;
	bool is_new;

	if (is_of_backward(e)) /* an import has no address of the call */
		return (struct tare_origin){ owner_of_event(f, e), tare_fold_site_of_backward(f, p, e->process) };
	key = (uint64_t)(e->python ? e->python->id : 0) << 32 | (e->stack ? e->stack->id : 0);
	if (!key)
		return (struct tare_origin){ 0 };
	known = tare_map_put(&p->origin_of, key, &is_new);
	if (is_new) {
		struct tare_origin origin = { owner_of_event(f, e), site_of(f, p, e) };

		*tare_map_get(&p->origin_of, key) = f->origin_nr;
		TARE_APPEND(f->origins, f->origin_nr, f->origin_cap) = origin;
		return origin;
	}
	return f->origins[*known];
}

bool tare_fold_tensor_is_pool(const struct tare_fold *f, uint64_t owner)
{
	return owner && tare_owner_is_pool(f->owners[owner - 1]);
}

/* Is what is booked there cut into blocks? */
bool tare_fold_tensor_is_segment(const struct tare_fold *f, int bucket)
{
	const struct tare_bucket *b = bucket < 0 ? NULL : &f->buckets[bucket];

	return b &&
	       (b->account == TARE_ACCOUNT_ALLOCATION || b->account == TARE_ACCOUNT_VMM ||
	        b->account == TARE_ACCOUNT_TRIAL) &&
	       tare_fold_tensor_is_pool(f, b->owner);
}
