/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a pickle says once and fetches again: 32 bits for each. Of the millions of dicts of a trace none is fetched again,
 * so a dict is put here when it is complete and can be, and pages without such take no memory.
 */
#include "snapshot/pickle.h"

#include "base/array.h"

#define PAGE    (1u << TARE_PICKLE_PAGE_LOG2)
#define REF_MAX ((1u << TARE_PICKLE_REF_BITS) - 1)

void tare_pickle_memo_set(struct tare_snapshot *s, uint64_t index, const struct tare_pickle_value *value)
{
	size_t page = index >> TARE_PICKLE_PAGE_LOG2;
	uint32_t entry = 0;

	switch ((enum tare_pickle_kind)value->kind) {
	case TARE_PICKLE_IS_TEXT:
	case TARE_PICKLE_IS_FRAME:
	case TARE_PICKLE_IS_STACK:
	case TARE_PICKLE_IS_PAIR:
	case TARE_PICKLE_IS_OTHER:
	case TARE_PICKLE_IS_NONE:
	case TARE_PICKLE_IS_LIST:
		if (value->ref <= REF_MAX)
			entry = (uint32_t)(value->kind + 1) << TARE_PICKLE_REF_BITS | value->ref;
		break;
	default:
		break;
	}
	if (page >= s->memo_pages) {
		if (!entry)
			return;
		s->memo = tare_array_widen(s->memo, s->memo_pages, 2 * page, sizeof(*s->memo));
		s->memo_pages = 2 * page + 1;
	}
	if (!s->memo[page]) {
		if (!entry)
			return;
		s->memo[page] = tare_xcalloc(PAGE, sizeof(**s->memo));
	}
	s->memo[page][index & (PAGE - 1)] = entry;
}

int tare_pickle_memo_put(struct tare_snapshot *s, uint64_t index)
{
	struct tare_pickle_value *top;

	if (!s->stack_count || s->stack[s->stack_count - 1].kind == TARE_PICKLE_IS_MARK)
		return tare_pickle_fail(s, TARE_E_CORRUPT, "there is nothing to remember");
	if (index > s->memo_count)
		return tare_pickle_fail(s, TARE_E_CORRUPT, "number %llu is remembered, but only %zu came before it",
		                        (unsigned long long)index, s->memo_count);
	if (index >= TARE_PICKLE_MEMO)
		return tare_pickle_fail(s, TARE_E_LIMIT, "more than %u values are remembered", TARE_PICKLE_MEMO);
	if (index == s->memo_count)
		s->memo_count++;
	top = &s->stack[s->stack_count - 1];
	if (top->kind == TARE_PICKLE_IS_LIST || top->kind == TARE_PICKLE_IS_DICT)
		s->containers[top->ref].memo = (uint32_t)index + 1;
	tare_pickle_memo_set(s, index, top);
	return 0;
}

int tare_pickle_memo_get(struct tare_snapshot *s, uint64_t index)
{
	uint32_t entry = tare_pickle_memo_at(s, index);
	struct tare_pickle_value value = tare_pickle_memo_value(entry);
	int rc;

	if (index >= s->memo_count)
		return tare_pickle_fail(s, TARE_E_CORRUPT, "number %llu is fetched, but was never remembered",
		                        (unsigned long long)index);
	if (entry && value.kind == TARE_PICKLE_IS_LIST) {
		rc = tare_pickle_seal(s, index, &value);
		if (rc)
			return rc;
		tare_pickle_memo_set(s, index, &value);
	}
	if (!entry || value.kind == TARE_PICKLE_IS_MARK)
		return tare_pickle_fail(
			s, TARE_E_CORRUPT,
			"number %llu is fetched, which is a list or dict that is not complete, or has its place already; "
			"a snapshot has no circles",
			(unsigned long long)index);
	return tare_pickle_push(s, value);
}
