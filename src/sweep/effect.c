/* SPDX-License-Identifier: Apache-2.0 */
/* Finds parameters of a sweep that change nothing. */
#include "sweep/summary.h"

#include "base/file.h"
#include "base/str.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HASHED_MAX = 1 << 30 };

/* FNV-1a of a file's first GiB. A file that is not there counts as an empty one. */
static uint64_t hash_file(const char *path)
{
	uint64_t h = 14695981039346656037u;
	int fd = tare_file_open(path, NULL);
	unsigned char part[65536];
	ssize_t n = 1;

	for (size_t read_nr = 0; fd >= 0 && n > 0 && read_nr < HASHED_MAX; read_nr += (size_t)n) {
		n = read(fd, part, sizeof(part));
		for (ssize_t i = 0; i < n; i++)
			h = (h ^ part[i]) * 1099511628211u;
		n = n < 0 ? 0 : n;
	}
	if (fd >= 0)
		close(fd);
	return h;
}

struct print {
	bool is_known; /* the cell was ok, and used a GPU */
	int64_t calls;
	uint64_t output;
};

/* Loads what is known of each cell's first run that was ok. */
static int load_prints(struct tare_db *db, const struct tare_summary *s, struct print *out, struct tare_err *err)
{
	struct tare_db_rows *rows;
	size_t at = 0;
	int rc = tare_db_query(db, &rows, err,
	                       "SELECT cell,driver_calls,stdout,min(repeat) FROM runs WHERE status='ok' AND processes>0 "
	                       "GROUP BY cell ORDER BY cell",
	                       "");

	while (!rc && (rc = tare_db_next(rows, err)) > 0) {
		struct tare_str path = { 0 };

		tare_str_addf(&path, "%s.d/%s", s->path, tare_db_text(rows, 2) ? tare_db_text(rows, 2) : "");
		while (at + 1 < s->cell_nr && s->cells[at].cell < tare_db_int(rows, 0))
			at++; /* both lists are in order */
		if (at < s->cell_nr && s->cells[at].cell == tare_db_int(rows, 0))
			out[at] = (struct print){ true, tare_db_int(rows, 1), hash_file(path.data) };
		tare_str_free(&path);
		rc = 0;
	}
	tare_db_done(rows);
	return rc;
}

static bool is_same(const struct tare_summary_cell *a, const struct tare_summary_cell *b, const struct print *x,
                    const struct print *y)
{
	if (x->calls != y->calls || x->output != y->output || a->part_nr != b->part_nr || a->peak != b->peak)
		return false;
	for (size_t i = 0; i < a->part_nr; i++)
		if (a->parts[i].bytes != b->parts[i].bytes || strcmp(a->parts[i].account, b->parts[i].account) != 0)
			return false;
	return true;
}

static bool differ_in(const struct tare_summary *s, size_t a, size_t b, size_t param)
{
	for (size_t i = 0; i < s->param_nr; i++)
		if ((strcmp(s->cells[a].values[i], s->cells[b].values[i]) == 0) == (i == param))
			return false;
	return true;
}

/* Looks at no more pairs of cells: all pairs of a large grid would take long. */
enum { PAIRS_MAX = 200000 };

int tare_effect_find(struct tare_db *db, struct tare_summary *s, struct tare_err *err)
{
	TARE_FREED_HERE struct print *prints = tare_xcalloc(s->cell_nr + 1, sizeof(*prints));
	int rc = load_prints(db, s, prints, err);

	for (size_t p = 0; p < s->param_nr && !rc; p++) {
		size_t pairs = 0, looked = 0;
		bool has_effect = false;

		for (size_t a = 0; a < s->cell_nr && !has_effect && looked < PAIRS_MAX; a++)
			for (size_t b = a + 1; b < s->cell_nr && !has_effect; b++, looked++) {
				if (!prints[a].is_known || !prints[b].is_known || !differ_in(s, a, b, p))
					continue;
				pairs++;
				has_effect = !is_same(&s->cells[a], &s->cells[b], &prints[a], &prints[b]);
			}
		s->params[p].is_without_effect = pairs && !has_effect;
	}
	return rc;
}
