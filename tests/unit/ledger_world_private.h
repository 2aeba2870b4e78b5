/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the world share. */
#ifndef TARE_TEST_LEDGER_WORLD_PRIVATE_H
#define TARE_TEST_LEDGER_WORLD_PRIVATE_H

#include "ledger_world.h"

union record {
	struct tare_record head;
#define F(type, field, role)
#define TARE_RECORD(id, key, name, cls, fields, tail) struct tare_rec_##name name;
#include "record/record.def"
};

struct item {
	struct tare_event event;
	union record rec;
	struct tare_stack stack;
	uint64_t pc;
	struct tare_line lines[WORLD_FRAMES];
	struct tare_line_stack python;
	size_t order;
};

struct world {
	struct item *items;
	size_t item_nr, item_cap, at;
	struct tare_process *processes[64];
	struct tare_process_device *process_devices[64];
	int process_nr, program_nr;
	struct tare_device *devices[16];
	int device_nr;
	struct tare_object objects[64];
	int object_nr;
	struct tare_symbol symbols[64]; /* by address: one for each object at most */
	int symbol_nr;
};

/* Its events, as a source of them for the fold. Before that, what they refer to is put into them. */
void world_link_up(struct world *w);
bool world_next(void *arg, struct tare_event *e);
void world_rewind(void *arg);
/* ledger_world_run.c */
bool world_run(void *arg, int64_t until_ns, struct tare_block_run *run);
bool world_phase_run(void *arg, int64_t until_ns, struct tare_phase_run *run);
bool world_heap_run(void *arg, int64_t until_ns, struct tare_heap_run *run);

#endif
