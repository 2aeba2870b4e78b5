/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the tree of `tare top`: GPUs, processes, ledgers. */
#include "top/tree.h"

#include "base/simulated.h"
#include "base/str.h"
#include "top/tree_private.h"

#include <stdlib.h>
#include <string.h>

/* ---- a GPU ---- */

/* What is in use and in no row above. Where NVML is asked now, and a recording is some seconds old, what they changed is in it, too. */
static void add_rest(struct tare_top_tree *tree, int gpu, bool has_list, int64_t behind_ns)
{
	int64_t rest = tree->rows[gpu].bytes - tare_top_parts(tree, gpu);
	struct tare_str label = { 0 };

	if (behind_ns > 0)
		tare_str_addf(&label, "unexplained, or of the last %.1f s", (double)behind_ns / 1e9);
	else
		tare_str_add(&label, has_list ? "unexplained: in no process that is seen" : "other processes, and unexplained");
	tare_top_set(tare_top_add(tree, gpu, TARE_TOP_UNEXPLAINED, tare_str_text(&label), "unexplained"), rest,
	             tree->rows[gpu].evidence, true);
	tare_str_free(&label);
}

/* What is in use and in no row above, then what is not in use. */
static void close_gpu(struct tare_top_tree *tree, int gpu, bool has_list, int64_t behind_ns, int64_t reserved,
                      int64_t free_bytes)
{
	const char *source = tree->rows[gpu].evidence;
	struct tare_top_row *row;

	if (tree->rows[gpu].is_known)
		add_rest(tree, gpu, has_list, behind_ns);
	if (reserved >= 0) {
		row = tare_top_add(tree, gpu, TARE_TOP_RESERVED, "reserved by the driver", "reserved");
		tare_top_set(row, reserved, source, false);
	}
	if (free_bytes >= 0) {
		row = tare_top_add(tree, gpu, TARE_TOP_FREE, "free", "free");
		tare_top_set(row, free_bytes, source, false);
	}
}

/* How old the oldest of these ledgers is. */
static int64_t behind_of(const struct tare_top_claims *claims)
{
	int64_t most = 0;

	for (size_t i = 0; i < claims->count; i++)
		most = claims->items[i].follow->behind_ns > most ? claims->items[i].follow->behind_ns : most;
	return most;
}

static int64_t known(uint64_t bytes)
{
	return bytes > INT64_MAX ? -1 : (int64_t)bytes;
}

static int begin_gpu(struct tare_top_tree *tree, int index, const char *name, const char *uuid, bool is_simulated,
                     const char *where)
{
	struct tare_str label = { 0 }, key = { 0 };
	struct tare_top_row *row;

	if (index >= 0)
		tare_str_addf(&label, "GPU %d  ", index);
	tare_str_addf(&label, "%s%s", name, tare_simulated_mark(is_simulated));
	if (*where)
		tare_str_addf(&label, " · %s", where);
	tare_str_addf(&key, "%s %s %d", uuid, where, index);
	row = tare_top_add(tree, -1, TARE_TOP_GPU, tare_str_text(&label), tare_str_text(&key));
	row->gpu = index;
	row->uuid = tare_arena_strdup(&tree->memory, uuid);
	row->source = "NVML";
	row->is_simulated = is_simulated;
	tare_str_free(&label);
	tare_str_free(&key);
	return (int)tree->count - 1;
}

static void follow_course(struct tare_top_tree *tree, int row, int64_t now_ns)
{
	struct tare_top_row *r = &tree->rows[row];
	struct tare_top_course *c = tare_top_course_of(tree, r->key);

	if (r->is_known)
		tare_top_course_add(c, now_ns, r->bytes);
	r->course = c;
}

static void begin_course(struct tare_top_tree *tree, int row, const struct tare_top_claims *claims)
{
	for (size_t i = 0; i < claims->count; i++)
		tare_top_course_begin(tare_top_course_of(tree, tree->rows[row].key), claims->items[i].follow->read_ns,
		                      &claims->items[i].device->timeline);
}

/* A GPU that NVML sees, with what recordings say of it. */
static void add_gpu(struct tare_top_tree *tree, const struct tare_top_gpu *g, const struct tare_finder *found,
                    const struct tare_top_machine *m, const struct tare_top_wish *wish, int64_t now_ns)
{
	const struct tare_nvml_memory *memory = &g->memory;
	int gpu = begin_gpu(tree, g->device->index, g->device->name, g->device->uuid, m->sim_state != NULL, "");
	struct tare_top_claims claims = tare_top_claims_of(found, g->device->uuid, m->sim_state);
	bool is_apart = memory->identity != TARE_NVML_SUM_INCLUDED;

	if (memory->version && known(memory->used) >= 0)
		tare_top_set(&tree->rows[gpu], known(memory->used), "NVML", false);
	tree->rows[gpu].total = memory->version ? known(memory->total) : -1;
	begin_course(tree, gpu, &claims);
	follow_course(tree, gpu, now_ns);
	tare_top_add_processes(tree, gpu, &g->processes, &claims, wish, now_ns);
	close_gpu(tree, gpu, g->processes.version != 0, behind_of(&claims),
	          memory->version && is_apart ? known(memory->reserved) : -1, memory->version ? known(memory->free) : -1);
	tare_top_claims_free(&claims);
}

/* ---- GPUs that only recordings know: of other machines, or where NVML is not ---- */

static bool is_seen(const struct tare_top_machine *m, const struct tare_follow *f, const struct tare_device_ledger *d)
{
	bool is_same =
		(!f->sim_state && !m->sim_state) || (f->sim_state && m->sim_state && !strcmp(f->sim_state, m->sim_state));

	for (int i = 0; i < m->gpu_nr && is_same && d->uuid[0]; i++)
		if (!strcmp(m->gpus[i].device->uuid, d->uuid))
			return true;
	return false;
}

/* Another recording before this one has the same GPU. */
static bool is_claimed(const struct tare_finder *found, size_t before, const struct tare_device_ledger *d,
                       const char *sim_state)
{
	for (size_t i = 0; i < before && d->uuid[0]; i++) {
		const struct tare_follow *f = found->items[i];

		for (int k = 0; f->has_ledger && k < f->ledger.device_nr; k++)
			if (tare_top_is_device(f, &f->ledger.devices[k], d->uuid, sim_state))
				return true;
	}
	return false;
}

static void add_recorded(struct tare_top_tree *tree, const struct tare_finder *found, const struct tare_follow *f,
                         const struct tare_device_ledger *d, const struct tare_top_wish *wish, int64_t now_ns)
{
	struct tare_top_claims claims = { 0 };
	struct tare_nvml_processes none = { 0 };
	int64_t total = known(d->total), reserved = known(d->reserved), used = known(d->used);
	int gpu = begin_gpu(tree, d->is_heap ? -1 : d->index, d->is_heap ? "heap" : d->name, d->uuid[0] ? d->uuid : f->path,
	                    d->simulated,
	                    f->sim_state || d->is_heap ? f->label
	                    : f->host                  ? f->host
	                                               : f->label);

	if (d->uuid[0])
		claims = tare_top_claims_of(found, d->uuid, f->sim_state);
	else
		tare_top_claim(&claims, f, d);
	tree->rows[gpu].source = "recording";
	if (used >= 0)
		tare_top_set(&tree->rows[gpu], used, "recording", false);
	tree->rows[gpu].total = total;
	begin_course(tree, gpu, &claims);
	follow_course(tree, gpu, now_ns);
	tare_top_add_processes(tree, gpu, &none, &claims, wish, now_ns);
	close_gpu(tree, gpu, false, 0, reserved,
	          total >= 0 && used >= 0 ? total - used - (reserved > 0 ? reserved : 0) : -1);
	tare_top_claims_free(&claims);
}

static void add_unseen(struct tare_top_tree *tree, const struct tare_finder *found, const struct tare_top_machine *m,
                       const struct tare_top_wish *wish, int64_t now_ns)
{
	for (size_t i = 0; i < found->count; i++) {
		struct tare_follow *f = found->items[i];

		f->needs_readings = false;
		for (int k = 0; f->has_ledger && k < f->ledger.device_nr; k++) {
			const struct tare_device_ledger *d = &f->ledger.devices[k];

			if (is_seen(m, f, d) || !tare_top_has_program(d))
				continue;
			f->needs_readings = true;
			if (!is_claimed(found, i, d, f->sim_state))
				add_recorded(tree, found, f, d, wish, now_ns);
		}
	}
}

/* ---- all ---- */

void tare_top_tree_build(struct tare_top_tree *tree, const struct tare_finder *found, const struct tare_top_machine *m,
                         const struct tare_top_wish *wish, int64_t now_ns)
{
	tare_arena_free(&tree->memory);
	tree->count = tree->process_nr = tree->recorded_nr = 0;
	tree->turn++;
	for (int i = 0; i < m->gpu_nr; i++)
		if (!m->gpus[i].device->is_sliced)
			add_gpu(tree, &m->gpus[i], found, m, wish, now_ns);
	add_unseen(tree, found, m, wish, now_ns);
	tare_top_add_cpu(tree, found, wish, now_ns);
	tare_top_forget_courses(tree, false);
}

void tare_top_tree_free(struct tare_top_tree *tree)
{
	tare_top_forget_courses(tree, true);
	tare_map_free(&tree->courses);
	tare_arena_free(&tree->memory);
	free(tree->rows);
	*tree = (struct tare_top_tree){ 0 };
}
