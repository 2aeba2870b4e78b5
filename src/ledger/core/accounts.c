/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of accounts and of classes of objects, made of their .def files, and the paths of rows. */
#include "ledger/ledger.h"

#include "ledger/core/fold.h"

#define TARE_ACCOUNT(id, key, path, label, parent, evidence, elastic, why, less)                                       \
	[id] = { path, label, why, less, TARE_ACCOUNT_##parent, TARE_EVIDENCE_##evidence, elastic },
const struct tare_account_info tare_accounts[TARE_ACCOUNT_NR] = {
#include "ledger/core/accounts.def"
};

#define TARE_CLASS(id, key, name, sizing, account) [id] = { name, TARE_SIZING_##sizing, TARE_ACCOUNT_##account },
const struct tare_class_info tare_classes[TARE_CLASS_NR] = {
#include "record/class.def"
};

void tare_row_path_add(struct tare_str *path, const char *segment)
{
	if (path->len)
		tare_str_add_char(path, '/');
	for (; *segment; segment++) {
		if (*segment == '/' || *segment == '%')
			tare_str_addf(path, "%%%02X", (unsigned char)*segment);
		else
			tare_str_add_char(path, *segment);
	}
}

const char *tare_evidence_name(enum tare_evidence evidence)
{
	static const char *const names[] = { "exact", "weighed", "inferred", "witness" };

	return (unsigned)evidence < sizeof(names) / sizeof(names[0]) ? names[evidence] : "not known";
}

const char *tare_fold_row_path(struct tare_arena *memory, const char *parent, const char *segment)
{
	TARE_FREED_BY(tare_str_free) struct tare_str s = { 0 };

	if (parent)
		tare_str_add(&s, parent);
	tare_row_path_add(&s, segment);
	return tare_arena_strdup(memory, tare_str_text(&s));
}
