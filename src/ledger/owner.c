/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "owner": an allocation belongs to the first object on the stack, from the innermost frame
 * out, that is neither the CUDA driver, nor its runtime, nor Tare.
 */
#include "ledger/fold.h"

#include "base/array.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_transparent(const char *base)
{
	static const char *const prefixes[] = { "libcuda.", "libcuda_", "libcudart", "libtare" };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(base, prefixes[i], strlen(prefixes[i])))
			return true;
	return !strcmp(base, "libcuda");
}

static const char *owner_of(const struct tare_process *p, const struct tare_stack *stack)
{
	for (uint32_t i = 0; i < stack->depth; i++) {
		/* A return address may lie just behind the object's last call. */
		const struct tare_object *o = tare_process_object(p, stack->pcs[i] - 1);

		if (o && o->path && !is_transparent(base_name(o->path)))
			return o->path;
	}
	return NULL;
}

/*
 * What an object is called as an owner. Python names extension modules after its own version and
 * machine; what tells them apart is their package: ".../site-packages/cupy/.../runtime.cpython-312-….so"
 * is "cupy.runtime".
 */
static char *owner_label(const char *path)
{
	const char *base = base_name(path), *tag = strstr(base, ".cpython-"), *package;
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

/* "libcublas.so.12" and "libcublas-1a2b.so.12.1" are told apart; their versions are not. */
uint64_t tare_fold_owner_named(struct tare_fold *f, const char *name)
{
	const char *so;
	char *text;
	uint64_t *id;
	bool is_new;

	if (!name || !*name)
		return 0;
	so = strstr(name, ".so");
	text = tare_xstrndup(name, so && so != name ? (size_t)(so - name) : strlen(name));
	id = tare_strmap_put(&f->owner_ids, text, &is_new);
	if (is_new) {
		f->owners = tare_array_reserve(f->owners, &f->owner_cap, f->owner_nr + 1,
					       sizeof(*f->owners));
		f->owners[f->owner_nr++] = tare_arena_strdup(&f->arena, text);
		*id = f->owner_nr;
	}
	free(text);
	return *id;
}

uint64_t tare_fold_owner(struct tare_fold *f, struct tare_process_fold *p,
			 const struct tare_event *e)
{
	uint64_t *known;
	bool is_new;

	if (!e->stack) /* a live object out of a checkpoint names its owner */
		return tare_fold_owner_named(f, tare_fold_is_folded(e) ? e->name : NULL);
	known = tare_map_put(&p->owner_of_stack, e->stack->id, &is_new);
	if (is_new) {
		const char *path = owner_of(e->process, e->stack);
		char *label = path ? owner_label(path) : NULL;

		*known = tare_fold_owner_named(f, label);
		free(label);
	}
	return *known;
}

const char *tare_owner_name(const char *library)
{
#define TARE_OWNER(PREFIX, OWNER) { PREFIX, OWNER },
	static const struct {
		const char *prefix, *owner;
	} owners[] = {
#include "ledger/owners.def"
	};
#undef TARE_OWNER

	for (size_t i = 0; i < sizeof(owners) / sizeof(owners[0]); i++)
		if (!strncmp(library, owners[i].prefix, strlen(owners[i].prefix)))
			return owners[i].owner;
	return library;
}
