/* SPDX-License-Identifier: Apache-2.0 */
/* Of every account a page can say how its rows are known, and the tools that show the same are there. */
#include "ledger/account.h"
#include "test.h"
#include "weigh/explain.h"

#include <string.h>

static const struct {
	enum tare_account account;
	const char *name, *rule, *same, *said;
} rows[] = {
#define TARE_EVIDENCE_ROW(ACCOUNT, name, rule, same, said) { TARE_ACCOUNT_##ACCOUNT, name, rule, same, said },
#include "view/evidence.def"
};

enum { ROW_NR = sizeof(rows) / sizeof(rows[0]) };

TEST(every_account_has_a_row_without_a_name_behind_those_with_one)
{
	for (int a = TARE_ACCOUNT_NONE + 1; a < TARE_ACCOUNT_NR; a++) {
		int any = -1;

		for (int i = 0; i < ROW_NR; i++) {
			if ((int)rows[i].account != a)
				continue;
			CHECK_INT(any, -1);
			any = *rows[i].name ? -1 : i;
		}
		CHECK(any >= 0);
	}
}

TEST(every_word_is_one_of_a_tool)
{
	for (int i = 0; i < ROW_NR; i++) {
		const char *p = rows[i].same;

		CHECK(*rows[i].said && *rows[i].rule);
		while (*p) {
			size_t len = strcspn(p, " ");

			CHECK(tare_tool_find(p, len) != TARE_TOOL_NR);
			p += len + (p[len] == ' ');
		}
	}
}
