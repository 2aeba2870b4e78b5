/* SPDX-License-Identifier: Apache-2.0 */
/* Reports as JSON and as CSV, read back. */
#include "view/agree_private.h"

#include "base/emit.h"
#include "base/json.h"

#include <stdlib.h>
#include <string.h>

static void print(struct tare_str *out, enum tare_emit_format format, const struct tare_by_ask *ask)
{
	struct tare_emit e;

	tare_emit_begin(&e, format, out);
	tare_by_infos[ask->by].show(&e, ask);
	tare_emit_end(&e);
}

void tare_said_json(struct tare_said *f, struct tare_arena *memory, const struct tare_by_ask *ask, int device)
{
	const struct tare_json_value *root = NULL, *rows;
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };

	print(&text, TARE_EMIT_JSON, ask);
	if (!tare_json_parse(memory, tare_str_text(&text), text.len, &root, NULL)) {
		rows = tare_json_get(root, "rows");
		for (const struct tare_json_value *r = rows ? rows->first : NULL; r; r = r->next) {
			const char *label = tare_json_get_str(r, "label");
			int64_t index = -1, bytes = 0;

			tare_json_get_i64(r, "device", &index);
			tare_json_get_i64(r, "bytes", &bytes);
			if (index == device && label)
				tare_said_add(f, label, bytes);
		}
	}
}

/* ---- CSV ---- */

enum { CELLS_MAX = 32 };

/* Cuts a line into its cells, in place. Returns where the next line begins. */
static char *cut_line(char *at, char *cells[CELLS_MAX], int *nr)
{
	*nr = 0;
	for (;;) {
		bool is_quoted = *at == '"';
		char *to = is_quoted ? ++at : at;

		if (*nr < CELLS_MAX)
			cells[(*nr)++] = to;
		while (*at && (is_quoted || (*at != ',' && *at != '\n' && *at != '\r'))) {
			if (is_quoted && *at == '"' && at[1] != '"') {
				is_quoted = false;
				at++;
				continue;
			}
			at += is_quoted && *at == '"';
			*to++ = *at++;
		}
		is_quoted = *at == ',';
		if (*at == '\r')
			at++;
		at += *at != '\0';
		*to = '\0';
		if (!is_quoted)
			return at;
	}
}

static const char *cell_of(char *const *heads, char *const *cells, int nr, const char *head)
{
	for (int i = 0; i < nr; i++)
		if (!strcmp(heads[i], head))
			return cells[i];
	return "";
}

void tare_said_csv(struct tare_said *f, struct tare_arena *memory, const struct tare_by_ask *ask, int device)
{
	char *heads[CELLS_MAX], *cells[CELLS_MAX], *at;
	struct tare_str text = { 0 };
	int head_nr, nr;

	print(&text, TARE_EMIT_CSV, ask);
	at = (char *)tare_arena_strdup(memory, tare_str_text(&text));
	tare_str_free(&text);
	at = cut_line(at, heads, &head_nr);
	while (*at) {
		const char *index;

		at = cut_line(at, cells, &nr);
		nr = nr < head_nr ? nr : head_nr;
		index = cell_of(heads, cells, nr, "device");
		if ((*index ? atoi(index) : -1) == device)
			tare_said_add(f, cell_of(heads, cells, nr, "label"), strtoll(cell_of(heads, cells, nr, "bytes"), NULL, 10));
	}
}
