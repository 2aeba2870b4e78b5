/* SPDX-License-Identifier: Apache-2.0 */
/* What a tensor is for, and by which rule that is known. */
#ifndef TARE_LEDGER_CATEGORY_H
#define TARE_LEDGER_CATEGORY_H

#include "ledger/account.h"

#include <stdint.h>

#define TARE_CATEGORY(KEY, key, name, what, less) TARE_CATEGORY_##KEY,
#define TARE_RULE(KEY, category, evidence, name, sentence)
enum tare_category {
#include "ledger/category.def"
	TARE_CATEGORY_NR
};

#define TARE_CATEGORY(KEY, key, name, what, less)
#define TARE_RULE(KEY, category, evidence, name, sentence) TARE_RULE_##KEY,
enum tare_rule {
#include "ledger/category.def"
	TARE_RULE_NR
};

struct tare_rule_info {
	const char *name, *sentence;
	enum tare_category category;
	enum tare_evidence evidence;
};
extern const struct tare_rule_info tare_rules[TARE_RULE_NR];

/* The sum of the tensors of one category. */
struct tare_category_sum {
	enum tare_category category;
	int64_t bytes;
	uint64_t count;
	/* the weakest in it: WITNESS is the program's own word, a rule is weaker */
	enum tare_evidence evidence;
};
void tare_category_sums_add(struct tare_category_sum sums[TARE_CATEGORY_NR], enum tare_rule rule, int64_t bytes,
                            uint64_t count);

const char *tare_category_key(enum tare_category category);
const char *tare_category_name(enum tare_category category);
const char *tare_category_evidence(enum tare_evidence evidence); /* for people: who says so */
const char *tare_category_what(enum tare_category category);
const char *tare_category_less(enum tare_category category); /* what can be done; "": what gives it back says so */

#endif
