/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace of torch.profiler with profile_memory=True, as export_chrome_trace() writes it: its `[memory]` events are what
 * PyTorch's allocators handed out and took back. Their order in the file is not that of time, so all of them are read first.
 */
#include "base/array.h"
#include "base/str.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "import/json_walk.h"
#include "import/kineto_gpu.h"
#include "import/kineto_tell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS_MAX (UINT64_C(2) << 20) /* so that a trace of any length is read in bounded memory */
#define MODULE     "nn.Module: "

struct reader {
	struct tare_import_job *job;
	struct tare_kineto k;
	uint64_t memory, bad, too_many, phases, other_devices;
	int64_t base_ns; /* what times of the file count from; 0: not told */
	int64_t pid;
	char *program;
	bool has_time;
};

/* ---- items ---- */

static bool get_number(const struct tare_json_value *v, const char *key, double *out)
{
	v = tare_json_get(v, key);
	*out = v && v->type == TARE_JSON_NUMBER ? v->number : 0;
	return v && v->type == TARE_JSON_NUMBER;
}

/* Microseconds with fractions, as ns. */
static bool get_time(const struct tare_json_value *v, const char *key, int64_t *ns)
{
	double us;
	int64_t whole;

	if (!get_number(v, key, &us) || !(us >= 0 && us < (double)(INT64_C(1) << 52)))
		return false;
	*ns = tare_json_get_i64(v, key, &whole) ? whole * 1000 : llround(us * 1000);
	return true;
}

/* Older traces have it as a text. */
static int64_t get_tid(const struct tare_json_value *v)
{
	const char *text = tare_json_get_str(v, "tid");
	int64_t tid = 0;

	if (text)
		return strtoll(text, NULL, 10);
	tare_json_get_i64(v, "tid", &tid);
	return tid;
}

static uint64_t get_total(const struct tare_json_value *v, const char *key)
{
	uint64_t bytes;

	return tare_json_get_u64(v, key, &bytes) && bytes < TARE_KINETO_BYTES_MAX ? bytes : TARE_NOT_KNOWN;
}

static void add_event(struct reader *r, const struct tare_kineto_event *e)
{
	struct tare_kineto *k = &r->k;

	if (k->count >= EVENTS_MAX) {
		r->too_many++;
		return;
	}
	TARE_APPEND(k->events, k->count, k->cap) = *e;
}

static void note_time(struct reader *r, int64_t t_ns)
{
	if (!r->has_time || t_ns < r->k.first_ns)
		r->k.first_ns = t_ns;
	r->has_time = true;
}

/* Enum c10::DeviceType: 0 is the CPU, 1 CUDA (and ROCm, which calls itself so). */
static bool read_memory(struct reader *r, const struct tare_json_value *v, struct tare_kineto_event *e)
{
	const struct tare_json_value *args = tare_json_get(v, "args");
	int64_t type, id;
	uint64_t address = 0;

	if (!get_time(v, "ts", &e->t_ns) || !tare_json_get_i64(args, "Bytes", &e->bytes) ||
	    !tare_json_get_i64(args, "Device Type", &type) || !tare_json_get_i64(args, "Device Id", &id) || !e->bytes ||
	    e->bytes >= (int64_t)TARE_KINETO_BYTES_MAX || e->bytes <= -(int64_t)TARE_KINETO_BYTES_MAX)
		return false;
	tare_json_get_u64(args, "Addr", &address);
	if (type == 0)
		e->device = TARE_KINETO_CPU;
	else if (id < 0 || id >= TARE_KINETO_GPUS || address >= TARE_KINETO_ADDRESS_MAX / 2)
		return false;
	else
		e->device = (uint8_t)id;
	r->other_devices += type != 0 && type != 1;
	e->tid = get_tid(v);
	e->address = address;
	e->allocated = get_total(args, "Total Allocated");
	e->reserved = get_total(args, "Total Reserved");
	e->number = (uint32_t)r->memory;
	return type == 0 || type == 1;
}

static void take_memory(struct reader *r, const struct tare_json_value *v)
{
	struct tare_kineto_event e = { .kind = TARE_KINETO_MEMORY };

	r->memory++;
	if (!read_memory(r, v, &e)) {
		r->bad++;
		return;
	}
	if (!r->pid)
		tare_json_get_i64(v, "pid", &r->pid);
	note_time(r, e.t_ns);
	add_event(r, &e);
}

static void take_annotation(struct reader *r, const char *name, int64_t tid, int64_t begin, int64_t end)
{
	struct tare_kineto_event e = { .kind = TARE_KINETO_BEGIN,
		                           .t_ns = begin,
		                           .tid = tid,
		                           .number = (uint32_t)++r->phases,
		                           .name = tare_kineto_spans_id(&r->k.spans, name) };

	if (!e.name || r->k.count + 2 > EVENTS_MAX)
		return;
	note_time(r, begin);
	add_event(r, &e);
	e.kind = TARE_KINETO_END;
	e.t_ns = end;
	add_event(r, &e);
}

static void take_span(struct reader *r, const struct tare_json_value *v, const char *name)
{
	const char *cat = tare_json_get_str(v, "cat");
	struct tare_kineto_spans *spans = &r->k.spans;
	int64_t begin, lasted, tid = get_tid(v);

	if (!cat || !get_time(v, "ts", &begin) || !get_time(v, "dur", &lasted))
		return;
	if (!strcmp(cat, "cpu_op") || !strcmp(cat, "Operator"))
		tare_kineto_spans_add(spans, TARE_KINETO_OPERATOR, tid, begin, begin + lasted, name);
	else if (!strcmp(cat, "user_annotation"))
		take_annotation(r, name, tid, begin, begin + lasted);
	else if (!strcmp(cat, "python_function") && !strncmp(name, MODULE, sizeof(MODULE) - 1))
		tare_kineto_spans_add(spans, TARE_KINETO_MODULE, tid, begin, begin + lasted, name + sizeof(MODULE) - 1);
	else if (!strcmp(cat, "python_function") && *name != '<') /* no built-in: it has no line */
		tare_kineto_spans_add(spans, TARE_KINETO_PYTHON, tid, begin, begin + lasted, name);
}

static void take_item(void *arg, const struct tare_json_value *v)
{
	const char *name = tare_json_get_str(v, "name"), *program;
	struct reader *r = arg;

	if (!name)
		return;
	program = strcmp(name, "process_name") != 0 ? NULL : tare_json_get_str(v, "args.name");
	if (!strcmp(name, "[memory]"))
		take_memory(r, v);
	else if (program && !r->program)
		r->program = tare_xstrdup(program);
	else
		take_span(r, v, name);
}

static bool wants(const char *text, size_t size)
{
	static const char *const words[] = { "\"[memory]\"", "\"cpu_op\"",          "\"python_function\"",
		                                 "\"Operator\"", "\"user_annotation\"", "\"process_name\"" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (memmem(text, size, words[i], strlen(words[i])))
			return true;
	return false;
}

/* ---- what stands beside the list ---- */

static void take_device(struct reader *r, const struct tare_json_value *v)
{
	const char *name = tare_json_get_str(v, "name");
	uint64_t id, total;

	if (!tare_json_get_u64(v, "id", &id) || id >= TARE_KINETO_GPUS)
		return;
	if (tare_json_get_u64(v, "totalGlobalMem", &total) && total < TARE_KINETO_BYTES_MAX)
		r->k.devices[id].total = total;
	if (!name)
		return;
	free(r->k.devices[id].name);
	r->k.devices[id].name = tare_xstrdup(name);
}

static void take_member(void *arg, const char *key, const struct tare_json_value *v)
{
	struct reader *r = arg;

	if (!strcmp(key, "baseTimeNanoseconds"))
		tare_json_get_i64(v, "", &r->base_ns);
	else if (!strcmp(key, "deviceProperties") && v->type == TARE_JSON_ARRAY)
		for (const struct tare_json_value *d = v->first; d; d = d->next)
			take_device(r, d);
}

/* ---- what is told of it ---- */

static void begin(struct reader *r)
{
	int64_t first = r->k.first_ns, started;

	if (__builtin_add_overflow(r->base_ns, first, &started) || started < 0)
		started = 0;
	for (size_t i = 0; i < r->k.count; i++)
		r->k.events[i].t_ns -= first;
	tare_kineto_spans_shift(&r->k.spans, first);
	tare_import_about(r->job->out,
	                  &(struct tare_import_about){ .program = r->program,
	                                               .pid = r->pid > 0 && r->pid <= INT32_MAX ? (uint32_t)r->pid : 0,
	                                               .started_realtime_ns = started });
}

static void note_doubts(struct reader *r, const struct tare_kineto_told *told,
                        const struct tare_import_json_walked *walked)
{
	struct tare_import_out *out = r->job->out;
	char n[2][TARE_UNITS_TEXT_MAX];

	if (told->apart)
		tare_import_left_out(
			out, "its events do not add up to what it says is allocated in all, at %s of %s events: some are missing",
			tare_units_count(n[0], told->apart), tare_units_count(n[1], told->checked));
	if (told->beyond)
		tare_import_left_out(out, "at times its tensors lie in more memory than it says is held, by up to %s bytes",
		                     tare_units_count(n[0], told->beyond));
	if (r->bad)
		tare_import_left_out(out, "%s memory events cannot be read, or are of a device that is no GPU",
		                     tare_units_count(n[0], r->bad));
	if (r->too_many + told->lost)
		tare_import_left_out(out, "it has more events than are read: %s are missing",
		                     tare_units_count(n[0], r->too_many + told->lost));
	if (r->k.spans.left_out)
		tare_import_left_out(
			out, "it has more operators and functions than are kept: %s are missing, and lines may be wrong",
			tare_units_count(n[0], r->k.spans.left_out));
	if (walked->unreadable)
		tare_import_left_out(out, "%s values of it are no JSON, or too long",
		                     tare_units_count(n[0], walked->unreadable));
	if (walked->is_cut)
		tare_import_left_out(out, "it ends in the middle: what follows is not known");
}

static void add_notes(struct reader *r, const struct tare_kineto_told *told,
                      const struct tare_import_json_walked *walked)
{
	struct tare_import_out *out = r->job->out;
	char n[TARE_UNITS_TEXT_MAX];

	tare_import_remark(
		out,
		"read from %s, a trace of torch.profiler: what PyTorch's allocators handed out, and nothing else; "
		"contexts, code, libraries and other programs are not in it",
		tare_import_in_path(r->job->in));
	if (told->has_reserved)
		tare_import_remark(
			out, "it has how much the allocator holds in all, and not in which segments: where these begin and end is "
				 "guessed from where tensors lie");
	else if (told->gpus)
		tare_import_remark(out, "it does not have how much the allocator holds: only tensors are in these figures");
	if (told->guessed)
		tare_import_remark(
			out, "it has no addresses: an end is taken for that of the tensor of its size that came last, and what was "
				 "there before is not known");
	else if (told->before)
		tare_import_remark(
			out, "it begins in the middle of the run: %s bytes were there before, and nothing is known of them",
			tare_units_count(n, told->before));
	if (told->has_modules)
		tare_import_remark(
			out, "a line is that at which its function begins, and a module is called by its class and number");
	note_doubts(r, told, walked);
}

static void say(struct reader *r, const struct tare_kineto_told *told)
{
	struct tare_str text = { 0 };
	char n[2][TARE_UNITS_TEXT_MAX];

	tare_str_addf(&text, "%s memory events, %s GPU%s", tare_units_count(n[0], r->memory),
	              tare_units_count(n[1], told->gpus), told->gpus == 1 ? "" : "s");
	if (told->checked && !told->apart)
		tare_str_addf(&text, ", tensors of up to %s bytes, as its totals say", tare_units_count(n[0], told->most));
	r->job->result->said = tare_str_steal(&text);
	r->job->result->taken = r->memory - r->bad;
}

static int finish(struct reader *r, const struct tare_import_json_walked *walked, struct tare_err *err)
{
	struct tare_kineto_told told;

	if (r->memory == r->bad)
		return tare_err_set(
			err, TARE_E_EMPTY,
			"%s: none of its %llu events is a `[memory]` event that can be read: have the trace written by "
			"torch.profiler.profile(profile_memory=True)",
			tare_import_in_path(r->job->in), (unsigned long long)walked->items);
	begin(r);
	tare_kineto_tell(&r->k, r->job->out, &told);
	add_notes(r, &told, walked);
	say(r, &told);
	return 0;
}

int tare_import_read_kineto(struct tare_import_job *job, struct tare_err *err)
{
	TARE_FREED_HERE struct reader *r = tare_xcalloc(1, sizeof(*r));
	const struct tare_import_json_taker taker = {
		.list = "traceEvents", .wants = wants, .item = take_item, .member = take_member, .arg = r
	};
	struct tare_import_json_walked walked;
	int rc;

	r->job = job;
	for (int i = 0; i < TARE_KINETO_GPUS; i++)
		r->k.devices[i].total = TARE_NOT_KNOWN;
	rc = tare_import_json_walk(job->in, &taker, &walked, err);
	if (!rc)
		rc = finish(r, &walked, err);
	for (int i = 0; i < TARE_KINETO_GPUS; i++)
		free(r->k.devices[i].name);
	tare_kineto_spans_free(&r->k.spans);
	free(r->k.events);
	free(r->program);
	return rc;
}

/* An object, or a list, with what only such traces begin with. */
bool tare_import_is_kineto(const char *head, size_t size)
{
	static const char *const words[] = { "\"traceEvents\"", "\"schemaVersion\"", "\"deviceProperties\"", "\"ph\"" };
	size_t at = 0;

	while (at < size && strchr(" \n\t\r", head[at]) && head[at])
		at++;
	if (at == size || (head[at] != '{' && head[at] != '['))
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (memmem(head, size, words[i], strlen(words[i])))
			return true;
	return false;
}
