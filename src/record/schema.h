/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_RECORD_SCHEMA_H
#define TARE_RECORD_SCHEMA_H

#include "base/err.h"
#include "record/decode.h"

/*
 * How the records of a log lie that another version of Tare wrote. A record is brought into the structs of this
 * version field by field, by name: what this version does not know is left out, what the log lacks is what the
 * role of the field says (field_role.def). schema_text.h has the form of the text.
 */
struct tare_schema;

/* One field that both versions have, or that the log lacks. */
struct tare_schema_field {
	const struct tare_field *from; /* in the log; NULL: it has none */
	const struct tare_field *to;   /* in the struct */
};

struct tare_schema_kind {
	struct tare_kind_info said;        /* as the log has it: id, name, fields, size */
	const struct tare_kind_info *info; /* the kind of that name in this version; NULL: there is none */
	bool is_same;                      /* the fields lie as in the struct: nothing is to be done */
	struct tare_schema_field *fields;  /* info->field_nr of them */
};

/* `size` bytes of text, without the NUL. `path`: of the log, for errors. FORMAT: it says why. */
int tare_schema_parse(struct tare_schema **out, const char *text, size_t size, const char *path, struct tare_err *err);
void tare_schema_free(struct tare_schema *schema); /* NULL is fine */

/* The text that a schema was made of; NULL: the one of this version. */
const char *tare_schema_text_of(const struct tare_schema *schema);
uint32_t tare_schema_own_sum(void); /* of this version's text */

/* NULL: the schema has no such kind. Of a kind that is part of the format what this version knows. */
const struct tare_schema_kind *tare_schema_kind(const struct tare_schema *schema, uint16_t kind);

/* Do records of that id lie as in the struct of this version that has it, if there are any? Without a schema they do. */
bool tare_schema_is_alike(const struct tare_schema *schema, uint16_t kind);

/* How the records of a kind lie; NULL: nobody knows. Without a schema as in this version. */
const struct tare_kind_info *tare_schema_layout(const struct tare_schema *schema, uint16_t kind);

/* The same for whom gets no schema, which is to live as long: of() of a kind that nobody knows is NULL. */
struct tare_layouts {
	const struct tare_kind_info *(*of)(const void *arg, uint16_t kind);
	const void *arg;
};
void tare_schema_layouts(const struct tare_schema *schema, struct tare_layouts *out);

/* The kind that this version knows under that id; NULL: the log has none of that name. */
const struct tare_schema_kind *tare_schema_kind_of(const struct tare_schema *schema, const struct tare_kind_info *info);

/* Makes of the whole fields of a record of the log those of the struct, or the other way round. Tails are not touched. */
void tare_schema_read(const struct tare_schema_kind *kind, const void *said, void *rec);
void tare_schema_write(const struct tare_schema_kind *kind, const void *rec, void *said);

#endif
