/* SPDX-License-Identifier: Apache-2.0 */
/* Takes part in NVTX's extension of payloads, and finds the number of a communicator in what NCCL says by it. */
#include "recorder/nvtx/payload.h"

#include <string.h>

#include "recorder/base/plib.h"
#include "recorder/elf/libdl.h"
#include "recorder/nvtx/nvtx.h"
#include "recorder/recorder.h"

#define COMM     "NCCL communicator ID"
#define SCHEMAS  64
#define MOST     64 /* entries of a form, and pieces of data of one call: more than anybody has */
#define DISABLED 1  /* what NVTX sets in place of a function that nobody has */

/* Forms with the number of a communicator, and where in them it stands. One is there when its id is. */
static struct {
	uint64_t id;
	size_t offset;
} schemas[SCHEMAS];
static uint32_t schema_nr;

/* An offset that is not said follows from those before: it is known of the first alone. */
static bool is_comm(const struct nvtx_entry *entry, bool is_first)
{
	return entry->type == NVTX_ENTRY_UINT64 && (entry->offset || is_first) &&
	       tare_plib_equal(tare_nvtx_text(TEXT_A(entry->name), NULL), COMM);
}

static const struct nvtx_entry *find_comm(const struct nvtx_schema *schema)
{
	size_t i;

	for (i = 0; i < schema->count && i < MOST; i++) {
		if (!tare_nvtx_may_read(&schema->entries[i], sizeof(*schema->entries)))
			return NULL;
		if (is_comm(&schema->entries[i], i == 0))
			return &schema->entries[i];
	}
	return NULL;
}

static void keep_schema(const struct nvtx_schema *schema)
{
	const struct nvtx_entry *entry;
	uint32_t i;

	if (!tare_nvtx_may_read(schema, sizeof(*schema)) || !schema->id)
		return;
	entry = find_comm(schema);
	if (!entry || __atomic_load_n(&schema_nr, __ATOMIC_RELAXED) >= SCHEMAS)
		return;
	i = __atomic_fetch_add(&schema_nr, 1, __ATOMIC_RELAXED);
	if (i >= SCHEMAS)
		return;
	schemas[i].offset = entry->offset;
	__atomic_store_n(&schemas[i].id, schema->id, __ATOMIC_RELEASE);
}

static uint64_t comm_of(const struct nvtx_data *data)
{
	uint64_t comm = 0;
	uint32_t i;

	for (i = 0; data->schema && i < SCHEMAS; i++) {
		const char *at = (const char *)data->at + schemas[i].offset;

		if (__atomic_load_n(&schemas[i].id, __ATOMIC_ACQUIRE) != data->schema)
			continue;
		if (data->size < sizeof(comm) || schemas[i].offset > data->size - sizeof(comm) ||
		    !tare_nvtx_may_read(at, sizeof(comm)))
			return 0;
		memcpy(&comm, at, sizeof(comm));
		return comm;
	}
	return 0;
}

uint64_t tare_nvtx_comm(struct tare_nvtx_text text, const struct nvtx_data *data, size_t count)
{
	const struct nvtx_event *e = text.coding == TARE_NVTX_EVENT ? text.at : NULL;
	uint64_t comm = 0;
	size_t i;

	if (e && tare_nvtx_may_read(e, NVTX_EVENT_SIZE) && e->payload_type == NVTX_PAYLOAD_EXTENDED) {
		data = (const struct nvtx_data *)(uintptr_t)e->payload;
		count = (size_t)e->reserved0;
	}
	for (i = 0; data && i < count && i < MOST && !comm; i++)
		if (tare_nvtx_may_read(&data[i], sizeof(*data)))
			comm = comm_of(&data[i]);
	return comm;
}

/* ---- the callbacks, and the other tool's ---- */
typedef uint64_t register_schema(nvtx_domain domain, const struct nvtx_schema *schema);
typedef void mark_data(nvtx_domain domain, const struct nvtx_data *data, size_t count);
typedef int push_or_pop_data(nvtx_domain domain, const struct nvtx_data *data, size_t count);
typedef uint64_t begin_data(nvtx_domain domain, const struct nvtx_data *data, size_t count);
typedef void end_data(nvtx_domain domain, uint64_t id, const struct nvtx_data *data, size_t count);

static struct {
	register_schema *schema;
	mark_data *mark;
	push_or_pop_data *push, *pop;
	begin_data *begin;
	end_data *end;
} next;

/* What is in the data alone, as a name, is not looked for. */
#define NO_NAME TEXT_A("")

static uint64_t on_schema(nvtx_domain domain, const struct nvtx_schema *schema)
{
	keep_schema(schema);
	return next.schema ? next.schema(domain, schema) : 0;
}

static void on_mark(nvtx_domain domain, const struct nvtx_data *data, size_t count)
{
	tare_nvtx_add_data(TARE_PHASE_MARK, domain, NO_NAME, 0, data, count);
	if (next.mark)
		next.mark(domain, data, count);
}

static int on_push(nvtx_domain domain, const struct nvtx_data *data, size_t count)
{
	tare_nvtx_add_data(TARE_PHASE_PUSH, domain, NO_NAME, 0, data, count);
	return next.push ? next.push(domain, data, count) : NVTX_NO_PUSH_POP_TRACKING;
}

static int on_pop(nvtx_domain domain, const struct nvtx_data *data, size_t count)
{
	tare_nvtx_add_data(TARE_PHASE_POP, domain, TEXT_NONE, 0, data, count);
	return next.pop ? next.pop(domain, data, count) : NVTX_NO_PUSH_POP_TRACKING;
}

static uint64_t on_begin(nvtx_domain domain, const struct nvtx_data *data, size_t count)
{
	uint64_t id = next.begin ? next.begin(domain, data, count) : tare_phase_new_id();

	tare_nvtx_add_data(TARE_PHASE_BEGIN, domain, NO_NAME, id, data, count);
	return id;
}

static void on_end(nvtx_domain domain, uint64_t id, const struct nvtx_data *data, size_t count)
{
	tare_nvtx_add_data(TARE_PHASE_END, domain, TEXT_NONE, id, data, count);
	if (next.end)
		next.end(domain, id, data, count);
}

/* By their numbers in the extension's segment. */
static const struct {
	size_t id;
	nvtx_function on;
	nvtx_function *next;
} rows[] = {
	{ 0, (nvtx_function)on_schema, (nvtx_function *)&next.schema },
	{ 2, (nvtx_function)on_mark, (nvtx_function *)&next.mark },
	{ 3, (nvtx_function)on_push, (nvtx_function *)&next.push },
	{ 4, (nvtx_function)on_pop, (nvtx_function *)&next.pop },
	{ 5, (nvtx_function)on_begin, (nvtx_function *)&next.begin },
	{ 6, (nvtx_function)on_end, (nvtx_function *)&next.end },
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* ---- injection ---- */

static bool initialize_other(struct nvtx_extension *extension)
{
	void *library = tare_nvtx_other_tool();
	nvtx_initialize_extension *initialize =
		library ? (nvtx_initialize_extension *)tare_resolve_dlsym(library, "InitializeInjectionNvtxExtension") : NULL;

	return initialize && initialize(extension) != 0;
}

TARE_EXPORT int InitializeInjectionNvtxExtension(struct nvtx_extension *extension);

int InitializeInjectionNvtxExtension(struct nvtx_extension *extension)
{
	const struct nvtx_segment *segment;
	bool is_other;
	size_t i;

	tare_start_once();
	if (!extension)
		return 0;
	is_other = initialize_other(extension);
	if (!tare_nvtx_is_wanted() || extension->module != NVTX_EXTENSION_PAYLOAD || !extension->count)
		return is_other;
	segment = extension->segments;
	for (i = 0; i < ROWS; i++) {
		nvtx_function *slot = rows[i].id < segment->count ? &segment->slots[rows[i].id] : NULL;

		if (!slot)
			continue;
		if (!is_other || (uintptr_t)*slot == DISABLED)
			*slot = NULL; /* a tool that refused leaves nothing behind */
		tare_nvtx_attach(slot, rows[i].on, rows[i].next, NULL);
	}
	return 1;
}
