/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof: profile.proto of github.com/google/pprof, in gzip. Sample types are those of Go's heap profiles, so that every reader knows
 * them; rows of the ledger are the outer frames, and labels.
 */
#include "base/array.h"
#include "export/export.h"
#include "export/gzip.h"
#include "export/protobuf.h"

#include <stdlib.h>
#include <string.h>

/* Fields of the messages. */
enum {
	TYPE = 1,
	SAMPLE,
	MAPPING,
	LOCATION,
	FUNCTION,
	STRING,
	TIME = 9,
	PERIOD_TYPE = 11,
	PERIOD,
	COMMENT,
	DEFAULT_TYPE
};
enum { VALUE_TYPE = 1, VALUE_UNIT };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_TEXT, LABEL_NUMBER };
enum { MAPPING_ID = 1, MAPPING_FILE = 5, MAPPING_HAS_FUNCTIONS = 7, MAPPING_HAS_FILES, MAPPING_HAS_LINES };
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_NUMBER };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE };

struct profile {
	struct tare_str out, strings;
	struct tare_strmap numbers, mappings;
};

static uint64_t string(struct profile *p, const char *text)
{
	uint64_t next = p->numbers.count;
	bool is_new;
	uint64_t *number = tare_strmap_put(&p->numbers, text, &is_new);

	if (is_new) {
		*number = next;
		tare_protobuf_text(&p->strings, STRING, text);
	}
	return *number;
}

static void add_value_type(struct profile *p, uint32_t field, const char *type, const char *unit)
{
	struct tare_str value = { 0 };

	tare_protobuf_number(&value, VALUE_TYPE, string(p, type));
	tare_protobuf_number(&value, VALUE_UNIT, string(p, unit));
	tare_protobuf_part(&p->out, field, &value);
}

static void add_label(struct profile *p, struct tare_str *sample, const char *key, const char *text, int64_t number)
{
	struct tare_str label = { 0 };

	tare_protobuf_number(&label, LABEL_KEY, string(p, key));
	if (text)
		tare_protobuf_number(&label, LABEL_TEXT, string(p, text));
	else
		tare_protobuf_int(&label, LABEL_NUMBER, number);
	tare_protobuf_part(sample, SAMPLE_LABEL, &label);
}

/* The innermost of the ledger's rows that the sample is in. */
static const char *row_of(const struct tare_export_stacks *s, const struct tare_export_sample *sample)
{
	const char *row = "";

	for (uint32_t i = 0; i < sample->frame_nr; i++)
		if (s->frames[sample->frames[i]].is_row)
			row = s->frames[sample->frames[i]].text;
	return row;
}

static void add_sample(struct profile *p, const struct tare_export_stacks *s, const struct tare_export_sample *sample)
{
	struct tare_str out = { 0 }, locations = { 0 }, values = { 0 };

	for (uint32_t i = sample->frame_nr; i--;)
		tare_protobuf_varint(&locations, 1 + sample->frames[i]);
	tare_protobuf_part(&out, SAMPLE_LOCATIONS, &locations);
	tare_protobuf_varint(&values, sample->ever);
	tare_protobuf_varint(&values, (uint64_t)sample->ever_bytes);
	tare_protobuf_varint(&values, sample->count);
	tare_protobuf_varint(&values, (uint64_t)sample->bytes);
	tare_protobuf_part(&out, SAMPLE_VALUES, &values);
	add_label(p, &out, "device", s->frames[sample->frames[0]].text, 0);
	add_label(p, &out, "row", row_of(s, sample), 0);
	add_label(p, &out, "evidence", tare_evidence_name(sample->evidence), 0);
	if (sample->pid >= 0)
		add_label(p, &out, "pid", NULL, sample->pid);
	tare_protobuf_part(&p->out, SAMPLE, &out);
}

/* The number of the mapping of what the frame is in: native code, the program, or the ledger. */
static uint64_t mapping(struct profile *p, const char *name)
{
	struct tare_str out = { 0 };
	bool is_new;
	uint64_t *id = tare_strmap_put(&p->mappings, name, &is_new);

	if (!is_new)
		return *id;
	*id = p->mappings.count;
	tare_protobuf_number(&out, MAPPING_ID, *id);
	tare_protobuf_number(&out, MAPPING_FILE, string(p, name));
	tare_protobuf_number(&out, MAPPING_HAS_FUNCTIONS, 1);
	tare_protobuf_number(&out, MAPPING_HAS_FILES, 1);
	tare_protobuf_number(&out, MAPPING_HAS_LINES, 1);
	tare_protobuf_part(&p->out, MAPPING, &out);
	return *id;
}

/* A location of one line, and its function. */
static void add_location(struct profile *p, const struct tare_export_frame *f, uint64_t id, const char *program)
{
	struct tare_str location = { 0 }, line = { 0 }, function = { 0 };

	tare_protobuf_number(&location, LOCATION_ID, id);
	tare_protobuf_number(&location, LOCATION_MAPPING,
	                     mapping(p, f->is_row      ? "[the ledger of tare]"
	                                : f->module[0] ? f->module
	                                               : program));
	tare_protobuf_number(&line, LINE_FUNCTION, id);
	if (f->line)
		tare_protobuf_number(&line, LINE_NUMBER, f->line);
	tare_protobuf_part(&location, LOCATION_LINE, &line);
	tare_protobuf_part(&p->out, LOCATION, &location);
	tare_protobuf_number(&function, FUNCTION_ID, id);
	tare_protobuf_number(&function, FUNCTION_NAME, string(p, f->function));
	/* Other than its name: or pprof takes "<module>" for the arguments of a template. */
	tare_protobuf_number(&function, FUNCTION_SYSTEM_NAME, string(p, f->text));
	tare_protobuf_number(&function, FUNCTION_FILE, string(p, f->file));
	tare_protobuf_part(&p->out, FUNCTION, &function);
}

static void add_comments(struct profile *p, struct tare_export *x)
{
	struct tare_str at = { 0 };

	tare_protobuf_number(&p->out, COMMENT, string(p, x->title));
	tare_str_addf(&at,
	              "at %s; alloc_… is what PyTorch's allocator handed out until then, and of other memory what is held",
	              x->ledger->at);
	tare_protobuf_number(&p->out, COMMENT, string(p, tare_str_text(&at)));
	tare_export_note_stacks(x);
	for (const char *note = tare_str_text(&x->notes), *end; (end = strchr(note, '\n')); note = end + 1) {
		char *text = tare_xstrndup(note, (size_t)(end - note));

		tare_protobuf_number(&p->out, COMMENT, string(p, text));
		free(text);
	}
	tare_str_free(&at);
}

int tare_export_pprof(struct tare_str *out, struct tare_export *x, struct tare_err *err)
{
	const struct tare_export_stacks *s = x->stacks;
	struct profile p = { 0 };

	(void)err;
	string(&p, "");
	add_value_type(&p, TYPE, "alloc_objects", "count");
	add_value_type(&p, TYPE, "alloc_space", "bytes");
	add_value_type(&p, TYPE, "inuse_objects", "count");
	add_value_type(&p, TYPE, "inuse_space", "bytes");
	for (size_t i = 0; i < s->nr; i++)
		add_sample(&p, s, &s->samples[i]);
	mapping(&p, x->title); /* the first one is taken for the program */
	for (size_t i = 0; i < s->frame_nr; i++)
		add_location(&p, &s->frames[i], i + 1, x->title);
	if (x->began_ns)
		tare_protobuf_int(&p.out, TIME, x->began_ns + (x->ledger->t_ns > 0 ? x->ledger->t_ns : 0));
	add_value_type(&p, PERIOD_TYPE, "space", "bytes");
	tare_protobuf_number(&p.out, PERIOD, 1);
	add_comments(&p, x);
	tare_protobuf_number(&p.out, DEFAULT_TYPE, string(&p, "inuse_space"));
	tare_str_add_n(&p.out, tare_str_text(&p.strings), p.strings.len);
	tare_gzip(out, &p.out);
	tare_str_free(&p.out);
	tare_str_free(&p.strings);
	tare_strmap_free(&p.numbers);
	tare_strmap_free(&p.mappings);
	return 0;
}
