/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks that are known by the words on the way through them: only where each is what it was, and never another's. */
#include "../test.h"
#include "code.h"
#include "recorder/unwind/seen.h"
#include "recorder/unwind/unwind.h"
#include "walk.h"

#include <string.h>

enum { LOG = 7, DIFFERENT = 12 };

struct stacks {
	struct walk all[DIFFERENT];
	uint32_t count, found;
};

/* What stack this is, by a walk that knows nothing; `seen` must not say another. */
__attribute__((noinline)) static void look(void *arg)
{
	struct stacks *s = arg;
	struct walk walk = { { 0 }, 0 };
	struct tare_seen *seen = tare_seen_take();
	uint32_t id, right;

	CHECK(seen);
	walk.count = tare_unwind(walk.pc, DEPTH, NULL);
	for (right = 0; right < s->count; right++)
		if (s->all[right].count == walk.count &&
		    !memcmp(s->all[right].pc, walk.pc, (size_t)walk.count * sizeof(walk.pc[0])))
			break;
	if (right == s->count)
		s->all[s->count++] = walk;
	CHECK(s->count < DIFFERENT);
	walk.count = tare_unwind_again(walk.pc, DEPTH, NULL, seen, LOG, &id);
	if (id)
		CHECK_INT(id, right + 1);
	else
		CHECK_INT(walk.count, s->all[right].count);
	s->found += id != 0;
	tare_seen_give_back(seen, right + 1, LOG);
}

__attribute__((noinline)) static int by_one(struct stacks *s)
{
	look(s);
	return code_recurse(3, look, s) + 1;
}

__attribute__((noinline)) static int by_another(struct stacks *s)
{
	look(s);
	return code_recurse(3, look, s) + 2;
}

TEST(the_same_stack_is_known)
{
	static struct stacks s;

	for (int i = 0; i < 50; i++)
		code_recurse(5, look, &s);
	CHECK_INT(s.count, 1);
	CHECK_INT(s.found, 49);
}

TEST(another_caller_with_the_same_frames_inside_is_another_stack)
{
	static struct stacks s;
	int sum = 0;

	for (int i = 0; i < 200; i++)
		sum += i * 7 % 3 ? by_one(&s) : by_another(&s);
	CHECK(sum);
	CHECK_INT(s.count, 4);
	CHECK(s.found > 300);
}

TEST(what_lies_in_registers_is_no_matter)
{
	static struct stacks s;

	for (int i = 0; i < 50; i++)
		code_registers(i % 2 + 3, look, &s);
	CHECK_INT(s.count, 2);
	CHECK(s.found >= 46);
}

TEST(frames_of_other_kinds)
{
	static struct stacks s;

	for (int i = 0; i < 30; i++) {
		code_alloca(i % 2, look, &s);
		code_aligned(2, look, &s);
		code_framed(2, look, &s);
	}
	CHECK_INT(s.count, 4);
	CHECK(s.found >= 26);
}

static void look_in_two_logs(void *arg)
{
	uint32_t id[3], logs[3] = { LOG, LOG + 1, LOG + 1 };
	struct walk walk;

	(void)arg;
	for (int i = 0; i < 3; i++) {
		struct tare_seen *seen = tare_seen_take();

		walk.count = tare_unwind_again(walk.pc, DEPTH, NULL, seen, logs[i], &id[i]);
		tare_seen_give_back(seen, 5, logs[i]);
	}
	CHECK_INT(id[1], 0);
}

TEST(an_id_is_of_one_log)
{
	code_recurse(4, look_in_two_logs, NULL);
}

TEST(a_walk_inside_a_walk_goes_without)
{
	struct tare_seen *seen = tare_seen_take();
	struct walk walk;
	uint32_t id;

	CHECK(seen);
	CHECK(!tare_seen_take());
	walk.count = tare_unwind_again(walk.pc, DEPTH, NULL, NULL, LOG, &id);
	CHECK_INT(id, 0);
	CHECK(walk.count > 1);
	tare_seen_give_back(NULL, 3, LOG);
	CHECK(!tare_seen_take());
	tare_seen_give_back(seen, 0, LOG);
	seen = tare_seen_take();
	CHECK(seen);
	tare_seen_give_back(seen, 0, LOG);
}
