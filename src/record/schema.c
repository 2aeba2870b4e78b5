/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses the schema of a log, and converts records between the way in which the schema says that they lie and the
 * structs of this version.
 */
#include "record/schema.h"

#include "base/arena.h"
#include "base/array.h"
#include "record/schema_text.h"

#include <stdlib.h>
#include <string.h>

enum {
	KINDS_MAX = 1000,
	FIELDS_MAX = 250, /* of a kind */
	FIXED_MAX = 1024, /* bytes of a record without its tail */
	NAME_MAX_BYTES = 40,
};

struct tare_schema {
	struct tare_arena arena;
	const char *text;
	struct tare_schema_kind *kinds;
	size_t kind_nr, kind_cap;
	uint16_t place[UINT16_MAX + 1]; /* by id: 1 + index in `kinds`, 0: none */
};

/* What stands at one place of the text. */
struct parser {
	struct tare_schema *schema;
	const char *at, *end; /* of the line */
	const char *wrong;    /* what is wrong with it; NULL: nothing so far */
};

static bool fail(struct parser *p, const char *what)
{
	if (!p->wrong)
		p->wrong = what;
	return false;
}

/* The next word of the line, up to a blank or one of `ends`; it is left out, too. */
static const char *next_word(struct parser *p, const char *ends, size_t *len)
{
	const char *word = p->at;

	while (p->at < p->end && *p->at != ' ' && !strchr(ends, *p->at))
		p->at++;
	*len = (size_t)(p->at - word);
	if (p->at < p->end)
		p->at++;
	return word;
}

static bool is_word(const char *word, size_t len, const char *want)
{
	return strlen(want) == len && !memcmp(word, want, len);
}

static const char *take_name(struct parser *p, const char *ends)
{
	size_t len;
	const char *word = next_word(p, ends, &len);

	for (size_t i = 0; i < len; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789_", word[i])) /* no NUL is in it */
			len = 0;
	if (len == 0 || len > NAME_MAX_BYTES) {
		fail(p, "a name is none");
		return "";
	}
	return tare_arena_strndup(&p->schema->arena, word, len);
}

static uint16_t take_id(struct parser *p)
{
	size_t len;
	const char *word = next_word(p, "", &len);
	unsigned id = 0;

	for (size_t i = 0; i < len; i++) {
		if (word[i] < '0' || word[i] > '9' || id > UINT16_MAX)
			return fail(p, "the id of a kind is none");
		id = id * 10 + (unsigned)(word[i] - '0');
	}
	if (id == 0 || id > UINT16_MAX)
		return fail(p, "the id of a kind is none");
	return (uint16_t)id;
}

static enum tare_tail take_tail(struct parser *p)
{
	size_t len;
	const char *word = next_word(p, "", &len);

	if (is_word(word, len, "TEXT"))
		return TARE_TAIL_TEXT;
	if (is_word(word, len, "PCS"))
		return TARE_TAIL_PCS;
	if (!is_word(word, len, "NONE"))
		fail(p, "a tail is none that is known");
	return TARE_TAIL_NONE;
}

static void take_type(struct parser *p, struct tare_field *field)
{
	static const struct {
		const char *word;
		uint16_t size;
	} sizes[] = { { "8", 1 }, { "16", 2 }, { "32", 4 }, { "64", 8 } };
	size_t len;
	const char *word = next_word(p, ":", &len);

	field->is_signed = len > 0 && word[0] == 'i';
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (len > 1 && is_word(word + 1, len - 1, sizes[i].word))
			field->size = sizes[i].size;
	if (field->size == 0 || (word[0] != 'i' && word[0] != 'u'))
		fail(p, "a type is none that is known");
}

/* A role of a newer version is a number here. That of a word has the enumeration behind it: WORD(effect). */
static enum tare_field_role take_role(struct parser *p)
{
	size_t len;
	const char *word = next_word(p, "", &len), *bracket = memchr(word, '(', len);

	len = bracket ? (size_t)(bracket - word) : len;
	for (int role = 0; role < TARE_FIELD_NR; role++)
		if (is_word(word, len, tare_decode_role((enum tare_field_role)role)->name))
			return (enum tare_field_role)role;
	return TARE_FIELD_NUMBER;
}

static const struct tare_field *field_named(const struct tare_kind_info *info, const char *name)
{
	for (int i = 0; i < info->field_nr; i++)
		if (!strcmp(info->fields[i].name, name))
			return &info->fields[i];
	return NULL;
}

static void take_fields(struct parser *p, struct tare_kind_info *said)
{
	struct tare_field fields[FIELDS_MAX], *copy;
	uint32_t offset = sizeof(struct tare_record);

	said->fields = fields;
	while (p->at < p->end && !p->wrong) {
		struct tare_field f = { .name = take_name(p, ":") };

		take_type(p, &f);
		f.role = take_role(p);
		f.offset = (uint16_t)offset;
		offset += f.size;
		if (said->field_nr == FIELDS_MAX || offset > FIXED_MAX)
			fail(p, "a kind has too many fields");
		else if (field_named(said, f.name))
			fail(p, "two fields of a kind have one name");
		else
			fields[said->field_nr++] = f;
	}
	copy = tare_arena_alloc(&p->schema->arena, ((size_t)said->field_nr + 1) * sizeof(*copy));
	memcpy(copy, fields, (size_t)said->field_nr * sizeof(*copy));
	said->fields = copy;
	said->fixed = (uint16_t)offset;
	if (said->tail && (said->field_nr == 0 || copy[said->field_nr - 1].size != sizeof(uint32_t)))
		fail(p, "the length of a tail is missing");
}

static bool is_alike(const struct tare_field *a, const struct tare_field *b)
{
	return a && a->offset == b->offset && a->size == b->size && a->is_signed == b->is_signed;
}

/* What a kind of records is called now that had another name up to 0.1.0. */
static const char *name_of_now(const char *name)
{
	static const struct {
		const char *was, *is;
	} renamed[] = { { "aside", "uncounted" }, { "probe", "scanned" }, { "sweep", "scan" } };

	for (size_t i = 0; i < sizeof(renamed) / sizeof(renamed[0]); i++)
		if (!strcmp(name, renamed[i].was))
			return renamed[i].is;
	return name;
}

/* Which fields of the log those of the struct are made of. */
static void match(struct tare_schema *schema, struct tare_schema_kind *kind)
{
	kind->info = tare_decode_kind_named(name_of_now(kind->said.name));
	if (!kind->info)
		return;
	kind->fields = tare_arena_alloc(&schema->arena, ((size_t)kind->info->field_nr + 1) * sizeof(*kind->fields));
	kind->is_same = kind->said.fixed == kind->info->fixed && kind->said.kind == kind->info->kind &&
	                kind->said.tail == kind->info->tail;
	for (int i = 0; i < kind->info->field_nr; i++) {
		const struct tare_field *to = &kind->info->fields[i];

		kind->fields[i].to = to;
		kind->fields[i].from = field_named(&kind->said, to->name);
		kind->is_same = kind->is_same && is_alike(kind->fields[i].from, to);
	}
}

static void take_kind(struct parser *p)
{
	struct tare_schema *schema = p->schema;
	struct tare_schema_kind kind = { .said.kind = take_id(p) };
	const struct tare_kind_info *of_id = tare_decode_kind(kind.said.kind), *of_name;
	size_t len;

	kind.said.name = take_name(p, "");
	of_name = tare_decode_kind_named(kind.said.name);
	kind.said.tail = take_tail(p);
	next_word(p, "", &len); /* the class: what is done with a kind is for this version to say */
	take_fields(p, &kind.said);
	if ((of_id && !of_id->is_schema) || (of_name && !of_name->is_schema))
		fail(p, "it changes what is part of the format");
	if (schema->place[kind.said.kind])
		fail(p, "two kinds have one id");
	for (size_t i = 0; i < schema->kind_nr; i++)
		if (!strcmp(schema->kinds[i].said.name, kind.said.name))
			fail(p, "two kinds have one name");
	if (schema->kind_nr == KINDS_MAX)
		fail(p, "it has too many kinds");
	if (p->wrong)
		return;
	match(schema, &kind);
	TARE_APPEND(schema->kinds, schema->kind_nr, schema->kind_cap) = kind;
	schema->place[kind.said.kind] = (uint16_t)schema->kind_nr;
}

/* Kinds that are part of the format lie as in this version. */
static void add_frames(struct tare_schema *schema)
{
	for (uint16_t id = 0; id < TARE_KIND_NR; id++) {
		const struct tare_kind_info *info = tare_decode_kind(id);

		if (!info || info->is_schema)
			continue;
		TARE_APPEND(schema->kinds, schema->kind_nr, schema->kind_cap) = (struct tare_schema_kind){ .said = *info };
		match(schema, &schema->kinds[schema->kind_nr - 1]);
		schema->place[id] = (uint16_t)schema->kind_nr;
	}
}

static const char *parse(struct tare_schema *schema, const char *text, size_t size)
{
	struct parser p = { .schema = schema, .at = text };
	const char *end = text + size, *line;

	if (size < strlen(TARE_SCHEMA_HEAD) || memchr(text, '\0', size) ||
	    memcmp(text, TARE_SCHEMA_HEAD, strlen(TARE_SCHEMA_HEAD)) != 0)
		return "it is not one";
	for (line = text + strlen(TARE_SCHEMA_HEAD); line < end && !p.wrong; line = p.end + 1) {
		p.at = line;
		p.end = memchr(line, '\n', (size_t)(end - line));
		if (!p.end)
			return "it is cut off";
		take_kind(&p);
	}
	return p.wrong;
}

int tare_schema_parse(struct tare_schema **out, const char *text, size_t size, const char *path, struct tare_err *err)
{
	struct tare_schema *schema = tare_xcalloc(1, sizeof(*schema));
	const char *wrong = parse(schema, text, size);

	if (wrong) {
		tare_schema_free(schema);
		return tare_err_set(err, TARE_E_FORMAT,
		                    "%s: its schema, which says how its records lie, is damaged: %s; "
		                    "nothing in it can be read",
		                    path, wrong);
	}
	add_frames(schema);
	schema->text = tare_arena_strndup(&schema->arena, text, size);
	*out = schema;
	return 0;
}

void tare_schema_free(struct tare_schema *schema)
{
	if (!schema)
		return;
	tare_arena_free(&schema->arena);
	free(schema->kinds);
	free(schema);
}

const char *tare_schema_text_of(const struct tare_schema *schema)
{
	return schema ? schema->text : tare_schema_text;
}

uint32_t tare_schema_own_sum(void)
{
	static uint32_t sum;

	if (!sum)
		sum = tare_schema_sum(tare_schema_text, sizeof(tare_schema_text) - 1);
	return sum;
}

const struct tare_schema_kind *tare_schema_kind(const struct tare_schema *schema, uint16_t kind)
{
	return schema->place[kind] ? &schema->kinds[schema->place[kind] - 1] : NULL;
}

bool tare_schema_is_alike(const struct tare_schema *schema, uint16_t kind)
{
	const struct tare_schema_kind *said = schema ? tare_schema_kind(schema, kind) : NULL;

	return !said || said->is_same;
}

const struct tare_kind_info *tare_schema_layout(const struct tare_schema *schema, uint16_t kind)
{
	const struct tare_schema_kind *said;

	if (!schema)
		return tare_decode_kind(kind);
	said = tare_schema_kind(schema, kind);
	return said ? &said->said : NULL;
}

static const struct tare_kind_info *layout(const void *arg, uint16_t kind)
{
	return tare_schema_layout(arg, kind);
}

void tare_schema_layouts(const struct tare_schema *schema, struct tare_layouts *out)
{
	*out = (struct tare_layouts){ layout, schema };
}

const struct tare_schema_kind *tare_schema_kind_of(const struct tare_schema *schema, const struct tare_kind_info *info)
{
	for (size_t i = 0; i < schema->kind_nr; i++)
		if (schema->kinds[i].info == info)
			return &schema->kinds[i];
	return NULL;
}

static uint64_t largest(const struct tare_field *field)
{
	return UINT64_MAX >> (64 - 8 * field->size + field->is_signed);
}

/* The same value in another width: where it has no room it is the nearest that has. */
static uint64_t fit(uint64_t value, const struct tare_field *from, const struct tare_field *to)
{
	uint64_t not_known =
		tare_decode_role(from->role)->look == TARE_LOOK_BYTES ? UINT64_MAX >> (64 - 8 * from->size) : 0;
	bool is_negative = from->is_signed && (int64_t)value < 0;

	if (not_known && (value == not_known || value == UINT64_MAX))
		return UINT64_MAX; /* in any width: all bits */
	if (is_negative && !to->is_signed)
		return 0;
	if (is_negative)
		return (int64_t)value < -(int64_t)largest(to) - 1 ? ~largest(to) : value;
	return value > largest(to) ? largest(to) : value;
}

void tare_schema_read(const struct tare_schema_kind *kind, const void *said, void *rec)
{
	struct tare_record *head = rec;

	memcpy(head, said, sizeof(*head));
	head->kind = kind->info->kind;
	for (int i = 0; i < kind->info->field_nr; i++) {
		const struct tare_schema_field *f = &kind->fields[i];
		uint64_t value =
			f->from ? fit(tare_decode_value(f->from, said), f->from, f->to) : tare_decode_role(f->to->role)->absent;

		tare_encode_value(f->to, rec, value);
	}
}

void tare_schema_write(const struct tare_schema_kind *kind, const void *rec, void *said)
{
	struct tare_record *head = said;

	memset(said, 0, kind->said.fixed);
	memcpy(head, rec, sizeof(*head));
	head->kind = kind->said.kind;
	for (int i = 0; i < kind->info->field_nr; i++) {
		const struct tare_schema_field *f = &kind->fields[i];

		if (f->from)
			tare_encode_value(f->from, said, fit(tare_decode_value(f->to, rec), f->to, f->from));
	}
}
