/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what is still there, and which call gives it back: `--by residue`. */
#include "view/residue.h"

#include "base/array.h"
#include "base/comparator.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PERCENT = 20 };
static const int64_t least_given_back = 64 << 20;

#define TARE_RESIDUE(KEY, key, ACCOUNT, name, label, whose, WHEN, call)                                                \
	{ key, label, whose, call, TARE_RESIDUE_##WHEN },
const struct tare_residue_info tare_residues[TARE_RESIDUE_NR] = {
#include "view/residue.def"
};

#define TARE_RESIDUE(KEY, key, ACCOUNT, name, label, whose, WHEN, call) { TARE_ACCOUNT_##ACCOUNT, name },
static const struct {
	enum tare_account account;
	const char *name;
} rules[TARE_RESIDUE_NR] = {
#include "view/residue.def"
};

const char *tare_residue_when_name(unsigned when)
{
	static const char *const names[] = {
		[TARE_RESIDUE_NOW] = "now",
		[TARE_RESIDUE_LATER] = "later",
		[TARE_RESIDUE_END] = "end",
		[TARE_RESIDUE_NONE] = "none",
	};

	return when < sizeof(names) / sizeof(names[0]) ? names[when] : "none";
}

static bool holds(size_t rule, const struct tare_row *row)
{
	const char *name = rules[rule].name, *part = row->library ? row->library : tare_text_last_part(row->path);

	if (rules[rule].account == TARE_ACCOUNT_NONE)
		return true;
	if (row->account != rules[rule].account &&
	    !(*name && row->account == TARE_ACCOUNT_VMM && rules[rule].account == TARE_ACCOUNT_ALLOCATION))
		return false;
	/* An imported ledger has the owner itself in place of its library. */
	return !strncmp(part, name, strlen(name)) || !strcmp(part, tare_owner_name(name));
}

/* Live tensors are no library, whatever stands in their path: only their category can say that they are a workspace. */
static bool is_of_tensors(const struct tare_device_ledger *d, const struct tare_row *row)
{
	return row->is_category || row->has_categories ||
	       (row->parent >= 0 && d->rows[row->parent].account == row->account &&
	        tare_account_has_libraries(row->account) && !strcmp(tare_text_last_part(row->path), "tensors"));
}

enum tare_residue tare_residue_of(const struct tare_device_ledger *d, const struct tare_row *row)
{
	if (is_of_tensors(d, row))
		return holds(TARE_RESIDUE_WORKSPACE, row) ? TARE_RESIDUE_WORKSPACE : TARE_RESIDUE_TENSORS;
	for (size_t i = 0; i < TARE_RESIDUE_NR; i++)
		if (i != TARE_RESIDUE_WORKSPACE && holds(i, row))
			return (enum tare_residue)i;
	return TARE_RESIDUE_TENSORS;
}

static struct tare_residue_row *row_of(struct tare_residue_rows *out, enum tare_residue kind, const char *label,
                                       const char *whose)
{
	for (size_t i = 0; i < out->count; i++)
		if (out->rows[i].kind == kind && !strcmp(out->rows[i].label, label))
			return &out->rows[i];
	return TARE_ADD(out->rows, out->count, out->cap,
	                (struct tare_residue_row){ .kind = kind, .label = label, .whose = whose });
}

static bool is_kept(const char *category)
{
	static const enum tare_category kept[] = { TARE_CATEGORY_PARAMETER, TARE_CATEGORY_FROZEN, TARE_CATEGORY_BUFFER,
		                                       TARE_CATEGORY_OPTIMIZER };

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		if (!strcmp(category, tare_category_name(kept[i])))
			return true;
	return false;
}

static void add(struct tare_residue_rows *out, const struct tare_device_ledger *d, const struct tare_row *row)
{
	enum tare_residue kind = tare_residue_of(d, row);
	const struct tare_residue_info *info = &tare_residues[kind];
	const char *owner = tare_account_has_libraries(row->account) ? tare_owner_name(tare_row_library(row)) : row->label;
	struct tare_residue_row *sum =
		row_of(out, kind, info->label[0] ? info->label : owner, info->whose[0] ? info->whose : owner);

	sum->bytes += row->bytes;
	sum->count += row->count;
	if (row->evidence > sum->evidence)
		sum->evidence = row->evidence;
	if (row->is_category && is_kept(row->label))
		out->kept += row->bytes;
}

TARE_COMPARATOR(by_call, struct tare_residue_row,
                TARE_RISING_BY(tare_residues[it->kind].when) TARE_FALLING(bytes) TARE_ALPHABETIC(label))

void tare_residue_build(struct tare_residue_rows *out, const struct tare_device_ledger *d)
{
	*out = (struct tare_residue_rows){ 0 };
	/* What of live tensors has no category, where their categories are not known, is the row itself. */
	for (int i = 0; i < d->row_nr; i++)
		if (d->rows[i].leaf)
			add(out, d, &d->rows[i]);
	TARE_SORT(out->rows, out->count, by_call);
}

void tare_residue_free(struct tare_residue_rows *rows)
{
	free(rows->rows);
	*rows = (struct tare_residue_rows){ 0 };
}

bool tare_residue_is_given_back(const struct tare_device_ledger *before, const struct tare_device_ledger *after)
{
	struct tare_residue_rows x, y;
	bool is_given_back;

	if (!before || !tare_device_ledger_is_gpu(after))
		return false;
	tare_residue_build(&x, before);
	tare_residue_build(&y, after);
	is_given_back = x.kept - y.kept >= least_given_back && y.kept <= x.kept / 100 * MOST_PERCENT;
	tare_residue_free(&x);
	tare_residue_free(&y);
	return is_given_back;
}
