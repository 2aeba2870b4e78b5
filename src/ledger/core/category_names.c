/* SPDX-License-Identifier: Apache-2.0 */
/* What tensors are for, and the rules that tell, as tables. */
#include "ledger/category.h"

#define TARE_CATEGORY(KEY, key, name, what, less) { key, name, what, less },
#define TARE_RULE(KEY, category, evidence, name, sentence)
static const struct {
	const char *key, *name, *what, *less;
} categories[TARE_CATEGORY_NR] = {
#include "ledger/category.def"
};

#define TARE_CATEGORY(KEY, key, name, what, less)
#define TARE_RULE(KEY, category, evidence, name, sentence)                                                             \
	{ name, sentence, TARE_CATEGORY_##category, TARE_EVIDENCE_##evidence },
const struct tare_rule_info tare_rules[TARE_RULE_NR] = {
#include "ledger/category.def"
};

const char *tare_category_key(enum tare_category category)
{
	return categories[category].key;
}

const char *tare_category_name(enum tare_category category)
{
	return categories[category].name;
}

const char *tare_category_evidence(enum tare_evidence evidence)
{
	return evidence == TARE_EVIDENCE_WITNESS ? "the program" : tare_evidence_name(evidence);
}

const char *tare_category_what(enum tare_category category)
{
	return categories[category].what;
}

const char *tare_category_less(enum tare_category category)
{
	return categories[category].less;
}
