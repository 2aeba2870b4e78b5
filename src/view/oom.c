/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the moments at which memory ran out. */
#include "view/ledger_view.h"

#include "base/units.h"
#include "record/format.h"

enum { MAX_OOMS = 4 };

static const struct {
	const char *name, *sentence;
} verdicts[] = {
	[TARE_OOM_LIMIT] = { "limit", "the driver was not asked: a limit that the program sets itself "
	                              "(set_per_process_memory_fraction)" },
	[TARE_OOM_FRAGMENTED] = { "fragmentation", "as much was there, but in pieces: fragmentation "
	                                           "(PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; tare report "
	                                           "--by pool says what pins them)" },
	[TARE_OOM_FULL] = { "full", "nearly all is in use: in pieces as much was there as this asked for, and "
	                            "hardly more (tare report --by line says what has it)" },
	[TARE_OOM_ELASTIC] = { "elastic", "as much was there, with what the program could have given back" },
	[TARE_OOM_PIECES] = { "pieces", "as much was free by the driver's own count, but not as one piece" },
	[TARE_OOM_OTHERS] = { "others", "with what other processes have on this GPU it would have been enough" },
	[TARE_OOM_NEED] = { "need", "more is needed than there is" },
	[TARE_OOM_OVERCOMMIT] = { "overcommit", "as much was available, but the system does not promise so much to "
	                                        "one program (vm.overcommit_memory, a container's limit)" },
};

/* For scripts. */
static const char *oom_verdict_name(enum tare_oom_verdict verdict)
{
	return verdicts[verdict].name;
}

/* Of the CPU a limit is of the process. */
static const char *why_of(const struct tare_oom *o)
{
	return o->device < 0 && o->verdict == TARE_OOM_LIMIT
	           ? "a limit of the process, which the machine's memory has nothing to do with"
	           : verdicts[o->verdict].sentence;
}

static void add_mib(struct tare_str *line, const char *before, int64_t bytes)
{
	char text[TARE_UNITS_TEXT_MAX];

	tare_str_addf(line, "%s%s", before, tare_units_mib(text, bytes));
}

static void add_asked(struct tare_str *line, const struct tare_oom *o)
{
	char text[TARE_UNITS_TEXT_MAX];

	tare_str_add(line, "out of memory on ");
	if (o->device < 0)
		tare_str_add(line, "the CPU");
	else
		tare_str_addf(line, "GPU %d", o->device);
	tare_str_addf(line, " at %s", tare_units_duration(text, o->t_ns));
	if (o->count > 1)
		tare_str_addf(line, " (and %s more times)", tare_units_count(text, o->count - 1));
	tare_str_add(line, ": ");
	if (o->is_torch)
		tare_str_add(line, "PyTorch");
	else
		tare_str_add(line, o->owner ? o->owner : "the program");
	add_mib(line, " asked for ", (int64_t)o->asked);
	tare_str_add(line, " MiB");
	if (o->api) {
		tare_str_add(line, " with ");
		tare_str_add(line, o->api);
	}
	if (o->short_source) {
		tare_str_add(line, ", ");
		tare_str_add(line, o->short_source);
	}
	tare_str_addf(line, " (pid %lld)", (long long)o->pid);
	if (o->segment && o->segment != o->asked)
		add_mib(line, ", of the driver ", (int64_t)o->segment);
	tare_str_addf(line, " · tare report --at oom#%d", o->number);
}

static void add_there_on_cpu(struct tare_str *line, const struct tare_oom *o)
{
	if (o->free == TARE_NOT_KNOWN)
		tare_str_add(line, "available: not known");
	else
		add_mib(line, "available ", (int64_t)o->free);
	if (o->room != TARE_NOT_KNOWN)
		add_mib(line, " · left by ulimit -v ", (int64_t)o->room);
	add_mib(line, " · in live tensors ", (int64_t)o->allocated);
	if (o->others)
		add_mib(line, " · in those of other processes ", o->others);
	tare_str_addf(line, " MiB; %s", why_of(o));
}

static void add_there(struct tare_str *line, const struct tare_oom *o)
{
	if (o->device < 0) {
		add_there_on_cpu(line, o);
		return;
	}
	if (o->free == TARE_NOT_KNOWN)
		tare_str_add(line, "free: not known");
	else
		add_mib(line, "free ", (int64_t)o->free);
	add_mib(line, " · could be given back ", o->elastic);
	if (o->is_torch) {
		add_mib(line, " · stuck beside live tensors ", o->stuck);
		if (o->held)
			add_mib(line, " · cached for graphs ", o->held);
		add_mib(line, " · in live tensors ", (int64_t)o->allocated);
	}
	add_mib(line, " · other processes ", o->others);
	tare_str_addf(line, " MiB; %s", why_of(o));
}

void tare_oom_text(struct tare_emit *e, const struct tare_ledger *ledger)
{
	for (int i = 0; i < ledger->oom_nr && i < MAX_OOMS; i++) {
		TARE_FREED_BY(tare_str_free) struct tare_str line = { 0 };

		add_asked(&line, &ledger->ooms[i]);
		tare_emit_alarm(e, "%s", tare_str_text(&line));
		tare_str_cut(&line, 0);
		add_there(&line, &ledger->ooms[i]);
		tare_emit_indented(e, 2, 2, tare_str_text(&line));
	}
	if (ledger->oom_nr > MAX_OOMS)
		tare_emit_alarm(e, "out of memory at %d other lines: tare report --json", ledger->oom_nr - MAX_OOMS);
}

struct row {
	const char *by, *why;
	struct tare_oom of;
};

#define KNOWN .unknown = TARE_UNKNOWN_HUGE

static const struct tare_column columns[] = {
	TARE_COLUMN(row, of.number, "number", NULL, ID),
	TARE_COLUMN(row, of.device, "device", NULL, ID, .unknown = TARE_UNKNOWN_NEGATIVE),
	TARE_COLUMN(row, of.t_ns, "t_ns", NULL, TIME),
	TARE_COLUMN(row, of.pid, "pid", NULL, ID),
	TARE_COLUMN(row, of.generation, "generation", NULL, ID),
	TARE_COLUMN(row, of.program, "program", NULL, TEXT),
	TARE_COLUMN(row, by, "by", NULL, TEXT),
	TARE_COLUMN(row, of.api, "api", NULL, TEXT),
	TARE_COLUMN(row, of.owner, "owner", NULL, TEXT),
	TARE_COLUMN(row, of.source, "source", NULL, TEXT),
	TARE_COLUMN(row, of.count, "count", NULL, COUNT),
	TARE_COLUMN(row, of.asked, "asked_bytes", NULL, BYTES),
	TARE_COLUMN(row, of.segment, "driver_asked_bytes", NULL, BYTES, KNOWN),
	TARE_COLUMN(row, of.allocated, "allocated_bytes", NULL, BYTES, KNOWN),
	TARE_COLUMN(row, of.reserved, "reserved_bytes", NULL, BYTES, KNOWN),
	TARE_COLUMN(row, of.free, "free_bytes", NULL, BYTES, KNOWN),
	TARE_COLUMN(row, of.elastic, "elastic_bytes", NULL, BYTES),
	TARE_COLUMN(row, of.stuck, "stuck_bytes", NULL, BYTES),
	TARE_COLUMN(row, of.held, "held_bytes", NULL, BYTES),
	TARE_COLUMN(row, of.others, "others_bytes", NULL, BYTES),
	TARE_COLUMN(row, of.room, "limit_left_bytes", NULL, BYTES, KNOWN),
	TARE_COLUMN(row, of.verdict, "verdict", NULL, TEXT, .name = oom_verdict_name),
	TARE_COLUMN(row, why, "why", NULL, TEXT),
};

void tare_oom_json(struct tare_emit *e, const struct tare_ledger *ledger)
{
	tare_emit_table(e, "out_of_memory", NULL, TARE_COLUMNS(columns));
	for (int i = 0; i < ledger->oom_nr; i++) {
		const struct tare_oom *o = &ledger->ooms[i];
		struct row row = { o->is_torch ? "torch" : "driver", why_of(o), *o };

		if (!row.of.segment) /* the driver was not asked */
			row.of.segment = TARE_NOT_KNOWN;
		tare_emit_add(e, &row);
	}
	tare_emit_table_end(e);
}
