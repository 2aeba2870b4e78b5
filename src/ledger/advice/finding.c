/* SPDX-License-Identifier: Apache-2.0 */
/* What can be done, as a table, and findings of it in the making. */
#include "ledger/advice/finding.h"

#include "base/array.h"
#include "ledger/advice/facts.h"

#include <string.h>

#define TARE_ADVICE(KEY, key, account, share, known, finding, less)                                                    \
	{ key, TARE_ACCOUNT_##account, share, TARE_KNOWN_##known, finding, less },
const struct tare_advice_info tare_advices[TARE_ADVICE_NR] = {
#include "ledger/advice/advice.def"
};

#define TARE_GRAPH_SAVING(KEY, key, advice) { key, TARE_ADVICE_##advice },
static const struct {
	const char *key;
	enum tare_advice advice;
} savings[] = {
#include "ledger/advice/graph_savings.def"
};

const char *tare_known_name(enum tare_known known)
{
	static const char *const names[] = { "measured", "computed", "at most" };

	return names[known];
}

const char *tare_finding_less(const struct tare_finding *finding)
{
	const char *own = tare_advices[finding->advice].less;

	return own[0] ? own : tare_accounts[finding->account].less;
}

static struct tare_finding *same(struct tare_advise *a, enum tare_advice advice, const char *name)
{
	for (size_t i = 0; i < a->count; i++)
		if (a->findings[i].advice == advice && !strcmp(a->findings[i].name, name))
			return &a->findings[i];
	return NULL;
}

void tare_fold_find(struct tare_advise *a, enum tare_advice advice, const struct tare_finding *finding, int process)
{
	struct tare_finding *f = same(a, advice, finding->name);
	int64_t pid = process < 0 ? -1 : (int64_t)a->f->processes[process]->process->pid;

	if (finding->bytes <= 0)
		return;
	if (f) {
		f->bytes += finding->bytes;
		f->count += finding->count;
		f->pid = f->pid == pid ? pid : -1;
		return;
	}
	f = &TARE_APPEND(a->findings, a->count, a->cap);
	*f = *finding;
	f->advice = advice;
	f->account = finding->account ? finding->account : tare_advices[advice].account;
	f->pid = pid;
	f->name = tare_arena_strdup(a->memory, finding->name);
}

const char *tare_graph_saving_key(enum tare_graph_saving_kind kind)
{
	return savings[kind].key;
}

struct tare_finding tare_graph_saving_finding(const struct tare_graph_saving *saving)
{
	enum tare_advice advice = savings[saving->kind].advice;

	return (struct tare_finding){ .advice = advice,
		                          .account = tare_advices[advice].account,
		                          .bytes = saving->have - saving->need,
		                          .pid = -1,
		                          .name = "",
		                          .count = saving->count,
		                          .each = saving->have,
		                          .next = saving->need };
}
