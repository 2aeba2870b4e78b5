/* SPDX-License-Identifier: Apache-2.0 */
#include "view/oom.h"

#include "base/units.h"
#include "trace/bytes.h"

enum { MAX_OOMS = 4 };

static const struct {
	const char *name, *sentence;
} verdicts[] = {
	[TARE_OOM_LIMIT] = { "limit",
			     "the driver was not asked: a limit that the program sets itself "
			     "(set_per_process_memory_fraction)" },
	[TARE_OOM_FRAGMENTED] = { "fragmentation",
				  "as much was there, but in pieces: fragmentation "
				  "(PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; tare report "
				  "--by pool says what pins them)" },
	[TARE_OOM_ELASTIC] = { "elastic",
			       "as much was there, with what the program could have given back" },
	[TARE_OOM_PIECES] = { "pieces",
			      "as much was free by the driver's own count, but not as one piece" },
	[TARE_OOM_OTHERS] = { "others",
			      "with what other processes have on this GPU it would have been enough" },
	[TARE_OOM_NEED] = { "need", "more is needed than there is" },
};

const char *tare_oom_verdict_name(enum tare_oom_verdict verdict)
{
	return verdicts[verdict].name;
}

static void add_mib(struct tare_str *line, const char *before, int64_t bytes)
{
	char text[TARE_UNITS_TEXT_MAX];

	tare_str_addf(line, "%s%s", before, tare_units_mib(text, bytes));
}

static void add_asked(struct tare_str *line, const struct tare_oom *o)
{
	char text[TARE_UNITS_TEXT_MAX];

	tare_str_addf(line, "! out of memory on GPU %d at %s", o->device,
		      tare_units_duration(text, o->t_ns));
	if (o->count > 1)
		tare_str_addf(line, " (and %s more times)", tare_units_count(text, o->count - 1));
	tare_str_add(line, ": ");
	if (o->is_torch)
		tare_str_add(line, "PyTorch");
	else
		tare_text_add_name(line, o->owner ? o->owner : "the program");
	add_mib(line, " asked for ", (int64_t)o->asked);
	tare_str_add(line, " MiB");
	if (o->api) {
		tare_str_add(line, " with ");
		tare_text_add_name(line, o->api);
	}
	if (o->short_source) {
		tare_str_add(line, ", ");
		tare_text_add_name(line, o->short_source);
	}
	tare_str_addf(line, " (pid %lld)", (long long)o->pid);
	if (o->segment && o->segment != o->asked)
		add_mib(line, ", of the driver ", (int64_t)o->segment);
	tare_str_addf(line, " · tare report --at oom#%d", o->number);
}

static void add_there(struct tare_str *line, const struct tare_oom *o)
{
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
	tare_str_addf(line, " MiB; %s", verdicts[o->verdict].sentence);
}

void tare_oom_text(struct tare_str *out, const struct tare_ledger *ledger,
		   const struct tare_text_style *style)
{
	size_t width = (size_t)style->width;

	for (int i = 0; i < ledger->oom_nr && i < MAX_OOMS; i++) {
		struct tare_str line = { 0 };

		add_asked(&line, &ledger->ooms[i]);
		tare_str_add_wrapped(out, tare_str_text(&line), 0, 2, width);
		tare_str_cut(&line, 0);
		add_there(&line, &ledger->ooms[i]);
		tare_str_add(out, "\n  ");
		tare_str_add_wrapped(out, tare_str_text(&line), 2, 2, width);
		tare_str_add_char(out, '\n');
		tare_str_free(&line);
	}
	if (ledger->oom_nr > MAX_OOMS)
		tare_str_addf(out, "! out of memory at %d other lines: tare report --json\n",
			      ledger->oom_nr - MAX_OOMS);
}

static void add_if_known(struct tare_json *j, const char *key, uint64_t bytes)
{
	if (tare_bytes_are_known(bytes))
		tare_json_u64(j, key, bytes);
	else
		tare_json_null(j, key);
}

void tare_oom_json(struct tare_json *j, const struct tare_ledger *ledger)
{
	tare_json_open(j, "out_of_memory", '[');
	for (int i = 0; i < ledger->oom_nr; i++) {
		const struct tare_oom *o = &ledger->ooms[i];

		tare_json_open(j, NULL, '{');
		tare_json_i64(j, "number", o->number);
		tare_json_i64(j, "device", o->device);
		tare_json_i64(j, "t_ns", o->t_ns);
		tare_json_i64(j, "pid", o->pid);
		tare_json_i64(j, "generation", o->generation);
		tare_json_str(j, "program", o->program);
		tare_json_str(j, "by", o->is_torch ? "torch" : "driver");
		tare_json_str(j, "api", o->api);
		tare_json_str(j, "owner", o->owner);
		tare_json_str(j, "source", o->source);
		tare_json_u64(j, "count", o->count);
		tare_json_u64(j, "asked_bytes", o->asked);
		add_if_known(j, "driver_asked_bytes", o->segment ? o->segment : TARE_NOT_KNOWN);
		add_if_known(j, "allocated_bytes", o->allocated);
		add_if_known(j, "reserved_bytes", o->reserved);
		add_if_known(j, "free_bytes", o->free);
		tare_json_i64(j, "elastic_bytes", o->elastic);
		tare_json_i64(j, "stuck_bytes", o->stuck);
		tare_json_i64(j, "held_bytes", o->held);
		tare_json_i64(j, "others_bytes", o->others);
		tare_json_str(j, "verdict", tare_oom_verdict_name(o->verdict));
		tare_json_close(j);
	}
	tare_json_close(j);
}
