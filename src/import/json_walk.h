/* SPDX-License-Identifier: Apache-2.0 */
/* A text of JSON of any length, read on and never back: only one value of its list is in memory at a time. */
#ifndef TARE_IMPORT_JSON_WALK_H
#define TARE_IMPORT_JSON_WALK_H

#include "base/json.h"
#include "import/import_reader.h"

/* A longer value is skipped and counted. */
enum { TARE_IMPORT_JSON_VALUE_MAX = 1 << 20 };

struct tare_import_json_taker {
	const char *list; /* the member of the outermost object whose items are told one by one */
	bool (*wants)(const char *text, size_t size); /* an item is parsed only where this says so */
	void (*item)(void *arg, const struct tare_json_value *item);
	void (*member)(void *arg, const char *key, const struct tare_json_value *value); /* any other member */
	void *arg;
};

struct tare_import_json_walked {
	uint64_t items;      /* of the list, wanted or not */
	uint64_t unreadable; /* values that are no JSON, or too long */
	bool is_cut;         /* the text ends in the middle */
};

/* The outermost value is an object, or the list itself. 0, or a negative code. */
int tare_import_json_walk(struct tare_import_in *in, const struct tare_import_json_taker *taker,
                          struct tare_import_json_walked *walked, struct tare_err *err);

#endif
