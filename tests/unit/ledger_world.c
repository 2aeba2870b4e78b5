/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger_world_private.h"

#include "base/array.h"
#include "record/bound.h"
#include "test.h"

#include <stdlib.h>

struct world *world_new(void)
{
	struct world *w = tare_xcalloc(1, sizeof(*w));

	world_device(w);
	world_process(w, 431, 0, "train");
	return w;
}

void world_free(struct world *w)
{
	for (int i = 0; i < w->process_nr; i++) {
		free(w->processes[i]);
		free(w->process_devices[i]);
	}
	for (int i = 0; i < w->device_nr; i++)
		free(w->devices[i]);
	free(w->items);
	free(w);
}

int world_process(struct world *w, uint32_t pid, uint32_t generation, const char *program)
{
	struct tare_process *p = tare_xcalloc(1, sizeof(*p));

	p->index = w->process_nr;
	p->role = pid ? TARE_ROLE_PROGRAM : TARE_ROLE_TARE;
	w->program_nr += !!pid;
	p->pid = pid;
	p->generation = generation;
	p->program = program;
	p->host = p->folder = "";
	p->rank = TARE_RANK_NONE;
	p->oom_kills = -1;
	w->processes[w->process_nr] = p;
	return w->process_nr++;
}

int world_device(struct world *w)
{
	struct tare_device *d = tare_xcalloc(1, sizeof(*d));

	d->index = d->nvml_index = w->device_nr;
	snprintf(d->uuid, sizeof(d->uuid), "GPU-%08x", (unsigned)w->device_nr);
	d->name = "NVIDIA H200";
	d->host = "gpu7";
	d->flags = TARE_DEVICE_NVML | TARE_DEVICE_RESERVE_APART | TARE_DEVICE_PER_PROCESS;
	d->total = (uint64_t)(143771 * MIB);
	d->reserved = (uint64_t)(615 * MIB);
	d->multiprocessors = 132;
	d->threads_per_multiprocessor = 2048;
	w->devices[w->device_nr] = d;
	return w->device_nr++;
}

struct tare_process *world_process_at(struct world *w, int process)
{
	return w->processes[process];
}

struct tare_device *world_device_at(struct world *w, int device)
{
	return w->devices[device];
}

static struct item *add(struct world *w, enum tare_kind kind, int process, int device, int64_t t)
{
	struct item *item;

	w->items = tare_array_reserve(w->items, &w->item_cap, w->item_nr + 1, sizeof(*w->items));
	item = &w->items[w->item_nr];
	*item = (struct item){ .order = w->item_nr };
	w->item_nr++;
	item->event = (struct tare_event){ .kind = kind,
		                               .process = w->processes[process],
		                               .device = device < 0 ? NULL : w->devices[device],
		                               .at_ns = t,
		                               .begin_ns = t,
		                               .end_ns = t,
		                               .text = "" };
	return item;
}

/* One object per owner, a page of addresses each. */
static uint64_t pc_of(struct world *w, const char *owner)
{
	int i = 0;

	while (i < w->object_nr && strcmp(w->objects[i].path, owner))
		i++;
	if (i == w->object_nr)
		w->objects[w->object_nr++] =
			(struct tare_object){ .begin = 0x1000u * (i + 1u), .end = 0x1000u * (i + 2u), .path = owner };
	return w->objects[i].begin + 16;
}

static bool is_same_stack(const struct item *a, const struct item *b)
{
	bool is_same = a != b && a->python.id && a->python.depth == b->python.depth;

	for (uint32_t i = 0; is_same && i < a->python.depth; i++)
		is_same = a->lines[i].line == b->lines[i].line && !strcmp(a->lines[i].file, b->lines[i].file) &&
		          !strcmp(a->lines[i].function, b->lines[i].function);
	return is_same;
}

/* One id per stack, as the recorder gives them. */
static uint32_t python_id(const struct world *w, const struct item *of)
{
	for (size_t i = 0; i < w->item_nr; i++)
		if (is_same_stack(&w->items[i], of))
			return w->items[i].python.id;
	return 1000 + (uint32_t)w->item_nr;
}

static void came_from(struct world *w, struct item *item, const char *file, uint32_t line)
{
	item->lines[0] = (struct tare_line){ file, "step", line };
	item->lines[1] = (struct tare_line){ "main.py", "<module>", 1 };
	item->python.depth = 2;
	item->python.id = python_id(w, item);
}

void world_call(struct world *w, struct world_call c)
{
	bool is_before = c.effect == TARE_EFFECT_DEL;
	struct item *item = add(w, TARE_KIND_EVENT, c.process, c.device, is_before ? c.begin : c.end);

	item->event.begin_ns = c.begin;
	item->event.end_ns = c.end;
	item->event.reading_before_ns = c.reading_before;
	item->event.reading_after_ns = c.reading_after;
	item->event.name = c.name;
	item->rec.event = (struct tare_rec_event){
		.tid = c.tid ? c.tid : 1,
		.effect = (uint8_t)c.effect,
		.class = (uint8_t)c.class,
		.device = (int16_t)c.device,
		.flags = (uint16_t)(c.flags | (c.weigh ? TARE_EVENT_WEIGHED : 0) | (c.peers ? TARE_EVENT_PEERS : 0)),
		.result = c.flags & TARE_EVENT_FAILED ? 2 : 0,
		.context = c.context,
		.handle = c.handle,
		.parent = c.parent,
		.asked = c.asked,
		.granted = c.granted,
		.before = c.weigh ? (uint64_t)c.before : TARE_NOT_KNOWN,
		.after = c.weigh ? (uint64_t)c.after : TARE_NOT_KNOWN,
		.peers_before = c.peers ? (uint64_t)c.peers_before : TARE_NOT_KNOWN,
		.peers_after = c.peers ? (uint64_t)c.peers_after : TARE_NOT_KNOWN,
		.local = c.local,
		.limit = c.limit,
	};
	if (c.file)
		came_from(w, item, c.file, c.line);
	if (c.owner) {
		item->pc = pc_of(w, c.owner);
		item->stack = (struct tare_stack){ .id = (uint32_t)(item->pc >> 12), .depth = 1 };
	}
}

void world_pool(struct world *w, struct world_pool p)
{
	struct item *item = add(w, TARE_KIND_POOL, p.process, p.device, p.end);

	item->event.begin_ns = p.begin;
	item->rec.pool = (struct tare_rec_pool){ .tid = p.tid ? p.tid : 1,
		                                     .device = (int16_t)p.device,
		                                     .number = p.number,
		                                     .handle = p.handle,
		                                     .reserved = (uint64_t)p.reserved,
		                                     .used = (uint64_t)p.used };
}

void world_reading_told(struct world *w, int device, int64_t t, int64_t used, enum tare_source source, uint64_t peers)
{
	add(w, TARE_KIND_READING, 0, device, t)->rec.reading =
		(struct tare_rec_reading){ .source = source, .used = (uint64_t)used, .peers = peers };
}

void world_exit(struct world *w, int process, int64_t t)
{
	add(w, TARE_KIND_EXIT, process, -1, t)->event.about = w->processes[process];
}

void world_reading_since(struct world *w, int device, int64_t from, int64_t t, int64_t used)
{
	world_reading_of(w, device, t, used, TARE_SOURCE_NVML2);
	w->items[w->item_nr - 1].event.begin_ns = from;
}

void world_peer(struct world *w, int device, int64_t t, uint32_t list, uint32_t pid, int64_t used, const char *name)
{
	struct item *item = add(w, TARE_KIND_PEER, 0, device, t);

	item->rec.peer = (struct tare_rec_peer){ .pid = pid, .used = (uint64_t)used, .list = list };
	item->event.text = name ? name : "";
}

void world_peer_of(struct world *w, int witness, int device, int64_t t, uint32_t list, uint32_t pid, int64_t used)
{
	struct item *item = add(w, TARE_KIND_PEER, witness, device, t);

	item->rec.peer = (struct tare_rec_peer){ .pid = pid, .used = (uint64_t)used, .list = list };
}

void world_tensor(struct world *w, int64_t t, uint64_t block, int64_t bytes)
{
	world_tensor_at(w, t, block, bytes, NULL, 0);
}

void world_tensor_at(struct world *w, int64_t t, uint64_t block, int64_t bytes, const char *file, uint32_t line)
{
	struct item *item = add(w, TARE_KIND_TENSOR, 0, 0, t);

	item->rec.tensor = (struct tare_rec_tensor){ .block = block, .bytes = bytes };
	if (file)
		came_from(w, item, file, line);
}

void world_block(struct world *w, struct world_block b)
{
	struct item *item = add(w, TARE_KIND_TENSOR, b.process, b.is_host ? -1 : 0, b.t);

	item->rec.tensor = (struct tare_rec_tensor){ .block = b.block,
		                                         .bytes = b.bytes,
		                                         .tid = b.tid ? b.tid : 1,
		                                         .device = b.is_host ? -1 : 0,
		                                         .flags = (uint16_t)(b.flags | (b.is_host ? TARE_TENSOR_HOST : 0)) };
	while (item->python.depth < WORLD_FRAMES && b.frames[item->python.depth].file) {
		item->lines[item->python.depth] = b.frames[item->python.depth];
		item->python.depth++;
	}
	if (item->python.depth)
		item->python.id = python_id(w, item);
}

void world_probe(struct world *w, int64_t t, enum tare_scanned_role role, uint64_t at, uint64_t of, const char *name,
                 unsigned int flags)
{
	struct item *item = add(w, TARE_KIND_SCANNED, 0, -1, t);

	item->event.name = name;
	item->rec.scanned =
		(struct tare_rec_scanned){ .at = at, .of = of, .role = (uint16_t)role, .flags = (uint16_t)flags };
}

void world_probe_shape(struct world *w, int64_t t, uint64_t at, const char *shape)
{
	struct item *item = add(w, TARE_KIND_SCANNED, 0, -1, t);

	item->event.api = shape;
	item->rec.scanned = (struct tare_rec_scanned){ .at = at, .role = TARE_SCANNED_TENSOR };
}

void world_self_report(struct world *w, int64_t t, int64_t allocated, int64_t reserved, int64_t requested)
{
	add(w, TARE_KIND_POOL_WITNESS, 0, 0, t)->rec.pool_witness =
		(struct tare_rec_pool_witness){ .allocated = (uint64_t)allocated,
		                                .reserved = (uint64_t)reserved,
		                                .active = (uint64_t)allocated,
		                                .requested = (uint64_t)requested };
}

void world_stream_of(struct world *w, int64_t t, int device, struct tare_rec_stream rec)
{
	add(w, TARE_KIND_STREAM, 0, device, t)->rec.stream = rec;
}

void world_stream(struct world *w, int64_t t, uint32_t tid, uint64_t id, unsigned int ids)
{
	world_stream_of(w, t, 0, (struct tare_rec_stream){ .id = id, .tid = tid, .ids = (uint16_t)ids });
}

void world_module(struct world *w, int64_t t, uint32_t tid, uint64_t at, const char *class)
{
	struct item *item = add(w, TARE_KIND_MODULE, 0, -1, t);

	item->event.name = class;
	item->rec.module = (struct tare_rec_module){ .at = at, .tid = tid };
}

void world_sweep(struct world *w, int64_t t, unsigned int flags)
{
	add(w, TARE_KIND_SCAN, 0, -1, t)->rec.scan = (struct tare_rec_scan){ .flags = flags };
}

void world_host_tensor(struct world *w, int process, int64_t t, uint64_t block, int64_t bytes, unsigned int flags)
{
	add(w, TARE_KIND_TENSOR, process, -1, t)->rec.tensor = (struct tare_rec_tensor){
		.block = block, .bytes = bytes, .device = -1, .flags = (uint16_t)(TARE_TENSOR_HOST | flags)
	};
}

void world_rss(struct world *w, int process, int64_t t, int64_t anon, int64_t file, const char *name, uint32_t line)
{
	struct item *item = add(w, TARE_KIND_RSS, process, -1, t);

	item->rec.rss = (struct tare_rec_rss){ .anon = anon, .file = file };
	if (name)
		came_from(w, item, name, line);
}

void world_tensor_collected(struct world *w, int64_t t, uint64_t block)
{
	add(w, TARE_KIND_TENSOR, 0, 0, t)->rec.tensor = (struct tare_rec_tensor){ .block = block, .flags = TARE_TENSOR_GC };
}

void world_tensor_of_backward(struct world *w, int64_t t, uint64_t block, int64_t bytes)
{
	add(w, TARE_KIND_TENSOR, 0, 0, t)->rec.tensor =
		(struct tare_rec_tensor){ .block = block, .bytes = bytes, .flags = TARE_TENSOR_BACKWARD };
}

void world_tensor_of_teardown(struct world *w, int64_t t, uint64_t block)
{
	add(w, TARE_KIND_TENSOR, 0, 0, t)->rec.tensor =
		(struct tare_rec_tensor){ .block = block, .flags = TARE_TENSOR_FINALIZING };
}

void world_oom(struct world *w, int64_t t, uint64_t asked, uint64_t allocated, uint64_t reserved)
{
	add(w, TARE_KIND_OOM, 0, 0, t)->rec.oom =
		(struct tare_rec_oom){ .tid = 1, .asked = asked, .allocated = allocated, .reserved = reserved };
}

void world_mapped_file(struct world *w, int process, int64_t t, uint64_t block, uint64_t inode)
{
	add(w, TARE_KIND_MAPPED_FILE, process, -1, t)->rec.mapped_file =
		(struct tare_rec_mapped_file){ .block = block, .device = 27, .inode = inode };
}

void world_heap_block(struct world *w, int process, int device, int64_t t, const struct tare_rec_heap_block *rec,
                      const char *file, uint32_t line)
{
	struct item *item = add(w, TARE_KIND_HEAP_BLOCK, process, device, t);

	item->rec.heap_block = *rec;
	if (file)
		came_from(w, item, file, line);
}

void world_heap_freed(struct world *w, int process, int device, int64_t t, uint64_t block, unsigned int flags)
{
	add(w, TARE_KIND_HEAP_FREED, process, device, t)->rec.heap_freed =
		(struct tare_rec_heap_freed){ .block = block, .flags = (uint16_t)flags };
}

void world_heap_unmapped(struct world *w, int process, int device, int64_t t, uint64_t begin, uint64_t bytes,
                         enum tare_heap_goes how)
{
	add(w, TARE_KIND_HEAP_UNMAPPED, process, device, t)->rec.heap_unmapped =
		(struct tare_rec_heap_unmapped){ .begin = begin, .bytes = bytes, .how = (uint16_t)how };
}

void world_cpu_oom(struct world *w, int process, int64_t t, uint64_t asked, int64_t available, uint64_t room)
{
	add(w, TARE_KIND_OOM, process, -1, t)->rec.oom =
		(struct tare_rec_oom){ .tid = 1, .device = -1, .asked = asked, .free = available, .room = room };
}

void world_graph(struct world *w, int process, int64_t t, const struct tare_rec_graph *rec)
{
	add(w, TARE_KIND_GRAPH, process, -1, t)->rec.graph = *rec;
}

void world_mempool(struct world *w, int process, int64_t t, uint64_t object, uint64_t first, uint64_t second)
{
	add(w, TARE_KIND_MEMPOOL, process, -1, t)->rec.mempool =
		(struct tare_rec_mempool){ .object = object, .first = first, .second = second };
}

void world_end(struct world *w, int process, int64_t t)
{
	add(w, TARE_KIND_END, process, -1, t);
	w->processes[process]->is_ended = true;
}

void world_end_with(struct world *w, int process, int64_t t, uint64_t most_resident)
{
	add(w, TARE_KIND_END, process, -1, t)->rec.end = (struct tare_rec_end){ .most_resident = most_resident };
	w->processes[process]->is_ended = true;
}

void world_host(struct world *w, int process, int64_t t, int64_t anon)
{
	struct item *item = add(w, TARE_KIND_HOST, process, -1, t);

	item->event.about = w->processes[process];
	item->rec.host = (struct tare_rec_host){ .anon = (uint64_t)anon,
		                                     .file = (uint64_t)MIB,
		                                     .peak = (uint64_t)anon,
		                                     .pss = TARE_NOT_KNOWN,
		                                     .tables = (uint64_t)anon / 512 };
}

void world_control(struct world *w, int64_t t, enum tare_act what, uint32_t number)
{
	struct item *item = add(w, TARE_KIND_CONTROL, 0, -1, t);

	item->rec.control.what = what;
	item->rec.control.number = number;
}

void world_lost(struct world *w, int process, int64_t t, int64_t first, int64_t last, uint64_t records)
{
	struct item *item = add(w, TARE_KIND_LOST, process, -1, t);

	item->event.begin_ns = first;
	item->event.end_ns = last;
	item->rec.lost = (struct tare_rec_lost){
		.records = records, .first = (uint64_t)first, .last = (uint64_t)last, .reason = TARE_LOST_DISK_FULL
	};
}

/* One record of a thread; when it was made is not told. */
void world_lost_of(struct world *w, int process, int64_t t, uint32_t tid, uint32_t reason)
{
	struct item *item = add(w, TARE_KIND_LOST, process, -1, t);

	item->rec.lost = (struct tare_rec_lost){ .records = 1, .tid = tid, .reason = reason };
}

void world_damage(struct world *w, int process, int64_t from, int64_t to)
{
	w->processes[process]->is_damaged = true;
	w->processes[process]->damage_from_ns = from;
	w->processes[process]->damage_to_ns = to;
}

void world_degraded(struct world *w, int64_t t, const char *text)
{
	add(w, TARE_KIND_DEGRADED, 0, -1, t)->event.text = text;
}

/* Of a text: the same for equal ones. */
static uint32_t string_id(const char *text)
{
	uint32_t id = 2166136261u;

	for (; text && *text; text++)
		id = (id ^ (uint8_t)*text) * 16777619u;
	return text ? id | 1 : 0;
}

void world_phase(struct world *w, struct world_phase p)
{
	struct item *item = add(w, TARE_KIND_PHASE, p.process, -1, p.t);

	item->rec.phase = (struct tare_rec_phase){ .tid = p.tid ? p.tid : 1,
		                                       .what = (uint8_t)p.what,
		                                       .source = TARE_PHASE_BY_NVTX,
		                                       .name = string_id(p.name),
		                                       .domain = string_id(p.domain),
		                                       .id = p.id };
	item->event.name = p.name;
	item->event.domain = p.domain;
}

void world_symbol(struct world *w, const char *owner, const char *name)
{
	w->symbols[w->symbol_nr++] = (struct tare_symbol){ .address = pc_of(w, owner), .name = name };
}

static int by_stamp(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->event.at_ns != y->event.at_ns)
		return x->event.at_ns < y->event.at_ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

void world_link_up(struct world *w)
{
	if (w->item_nr)
		qsort(w->items, w->item_nr, sizeof(*w->items), by_stamp);
	for (size_t i = 0; i < w->item_nr; i++) {
		struct item *item = &w->items[i];

		item->event.rec.head = &item->rec.head;
		if (item->stack.depth) {
			item->stack.pcs = &item->pc;
			item->event.stack = &item->stack;
		}
		if (item->python.depth) {
			item->python.lines = item->lines;
			item->event.python = &item->python;
		}
	}
	for (int k = 0; k < w->device_nr; k++)
		w->devices[k]->program_nr = w->program_nr;
	for (int i = 0; i < w->process_nr; i++) {
		struct tare_process_device *list = tare_xcalloc((size_t)w->device_nr, sizeof(*list));

		for (int k = 0; k < w->device_nr; k++)
			list[k] = (struct tare_process_device){ k, w->devices[k] };
		free(w->process_devices[i]);
		w->process_devices[i] = list;
		w->processes[i]->devices = list;
		w->processes[i]->device_nr = w->device_nr;
		w->processes[i]->symbols = w->symbols;
		w->processes[i]->symbol_nr = w->symbol_nr;
		w->processes[i]->objects = w->objects;
		w->processes[i]->object_nr = w->object_nr;
	}
}

bool world_next(void *arg, struct tare_event *e)
{
	struct world *w = arg;

	if (w->at == w->item_nr)
		return false;
	*e = w->items[w->at++].event;
	tare_bound_record((uint16_t)e->kind, (void *)(uintptr_t)e->rec.head); /* as a reader does */
	return true;
}

void world_rewind(void *arg)
{
	((struct world *)arg)->at = 0;
}

size_t world_event_nr(struct world *w)
{
	return w->item_nr;
}

const struct tare_event *world_event(struct world *w, size_t i)
{
	return &w->items[i].event;
}

int world_process_nr(const struct world *w)
{
	return w->process_nr;
}

int world_device_nr(const struct world *w)
{
	return w->device_nr;
}
