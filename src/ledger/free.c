/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a fold. */
#include "ledger/run.h"

#include <stdlib.h>

static void free_process(struct tare_process_fold *p)
{
	if (!p)
		return;
	for (int i = 0; i < p->on_device_nr; i++) {
		if (!p->on_device[i])
			continue;
		tare_map_free(&p->on_device[i]->contexts);
		tare_map_free(&p->on_device[i]->pages);
		tare_blocks_free(&p->on_device[i]->blocks);
		free(p->on_device[i]->segments.items);
		tare_heap_blocks_free(&p->on_device[i]->heap);
		tare_heap_blocks_free(&p->on_device[i]->mapped);
		free(p->on_device[i]);
	}
	free(p->on_device);
	for (int i = 0; i < TARE_FAMILY_NR; i++)
		tare_map_free(&p->live[i]);
	tare_map_free(&p->vmm);
	tare_map_free(&p->mapped);
	tare_map_free(&p->origin_of);
	tare_map_free(&p->site_of);
	tare_map_free(&p->shared);
	tare_map_free(&p->opened);
	tare_map_free(&p->origins);
	tare_map_free(&p->large_open);
	tare_map_free(&p->held_sizes);
	tare_map_free(&p->xla_devices);
	tare_map_free(&p->elastic);
	tare_map_free(&p->thread_streams);
	free(p->streams);
	tare_map_free(&p->mapped_files);
	tare_blocks_free(&p->host_blocks);
	free(p->scanned.items);
	tare_map_free(&p->modules.of_address);
	tare_map_free(&p->modules.of_thread);
	free(p->modules.items);
	free(p);
}

static void free_device(struct tare_device_fold *d)
{
	if (!d)
		return;
	free(d->cluster.items);
	free(d->threads);
	free(d->late.items);
	free(d->taken.items);
	tare_samples_free(&d->samples);
	tare_kinds_free(&d->kinds);
	free(d->reads);
	free(d->others);
	free(d->blocks);
	free(d->kept_blocks.items);
	for (int m = 0; m < TARE_MOMENT_NR; m++)
		free(d->kept_segments[m].items);
	free(d);
}

void tare_fold_end(struct tare_fold *f)
{
	tare_parts_free(f->parts);
	free(f->phase_changes.items);
	for (int i = 0; i < f->device_nr; i++)
		free_device(f->devices[i]);
	for (int i = 0; i < f->process_nr; i++)
		free_process(f->processes[i]);
	for (size_t i = 0; i < f->context_nr; i++) {
		tare_map_free(&f->contexts[i].parts);
		tare_facts_free(f->contexts[i].facts);
	}
	for (size_t i = 0; i < f->undo_nr; i++) {
		free(f->undos[i].objects);
		free(f->undos[i].ops.items);
	}
	free(f->groups);
	free(f->host.kept.items);
	free(f->host.queue);
	tare_samples_free(&f->host.samples);
	tare_kinds_free(&f->host.kinds);
	free(f->devices);
	free(f->ends);
	free(f->processes);
	free(f->buckets);
	free(f->changed);
	free(f->contexts);
	free(f->objects);
	free(f->owners);
	free(f->large);
	free(f->physicals);
	free(f->imports);
	free(f->mappings);
	free(f->asleep);
	free(f->sites);
	free(f->origins);
	free(f->undos);
	free(f->ops.items);
	free(f->timed);
	free(f->notes);
	tare_map_free(&f->undo_of);
	tare_strmap_free(&f->owner_ids);
	tare_arena_free(&f->arena);
}
