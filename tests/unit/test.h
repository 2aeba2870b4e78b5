/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_TESTS_UNIT_TEST_H
#define TARE_TESTS_UNIT_TEST_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* gcc says so by a macro, clang by a feature. */
#if defined(__SANITIZE_THREAD__)
#define HAS_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HAS_THREAD_SANITIZER 1
#endif
#endif

/*
 * A test file is a list of TEST(name) { … } and is linked with test_main.c. Every test runs in a
 * child of its own, so a crash or a hang is one red line. Output is TAP. `t_x NAME` runs the
 * tests whose name contains NAME, in this process (for a debugger).
 *
 *   TEST(map_grows)
 *   {
 *           CHECK(tare_map_count(&m) == 3);
 *           CHECK_INT(got, 3);
 *           CHECK_STR(text, "abc");
 *           if (!have_gpu())
 *                   SKIP("no GPU here");
 *   }
 */
struct test_case {
	const char *name;
	void (*fn)(void);
	struct test_case *next;
};

void test_register(struct test_case *tc);
void test_fail(const char *file, int line, const char *fmt, ...) __attribute__((noreturn, format(printf, 3, 4)));
void test_skip(const char *why) __attribute__((noreturn));

#define TEST(NAME)                                                                                                     \
	static void test_fn_##NAME(void);                                                                                  \
	__attribute__((constructor)) static void test_reg_##NAME(void)                                                     \
	{                                                                                                                  \
		static struct test_case tc = { #NAME, test_fn_##NAME, NULL };                                                  \
		test_register(&tc);                                                                                            \
	}                                                                                                                  \
	static void test_fn_##NAME(void)

#define CHECK(COND)                                                                                                    \
	do {                                                                                                               \
		if (!(COND))                                                                                                   \
			test_fail(__FILE__, __LINE__, "%s", #COND);                                                                \
	} while (0)

/* Signed or unsigned integers up to 64 bits; both sides are shown. */
#define CHECK_INT(GOT, WANT)                                                                                           \
	do {                                                                                                               \
		int64_t test_got = (int64_t)(GOT), test_want = (int64_t)(WANT);                                                \
		if (test_got != test_want)                                                                                     \
			test_fail(__FILE__, __LINE__, "%s is %lld, expected %lld", #GOT, (long long)test_got,                      \
			          (long long)test_want);                                                                           \
	} while (0)

#define CHECK_STR(GOT, WANT)                                                                                           \
	do {                                                                                                               \
		const char *test_got = (GOT), *test_want = (WANT);                                                             \
		if (!test_got || strcmp(test_got, test_want))                                                                  \
			test_fail(__FILE__, __LINE__, "%s is\n\"%s\"\nexpected\n\"%s\"", #GOT, test_got ? test_got : "(null)",     \
			          test_want);                                                                                      \
	} while (0)

/* TEXT contains PART. */
#define CHECK_HAS(TEXT, PART)                                                                                          \
	do {                                                                                                               \
		const char *test_got = (TEXT), *test_want = (PART);                                                            \
		if (!test_got || !strstr(test_got, test_want))                                                                 \
			test_fail(__FILE__, __LINE__, "%s is\n\"%s\"\nwithout \"%s\"", #TEXT, test_got ? test_got : "(null)",      \
			          test_want);                                                                                      \
	} while (0)

#define SKIP(WHY) test_skip(WHY)

/* Rounds of a test of many like rounds: an eighth of `whole`, where each takes many times as long (sanitizers, emulators). */
int test_rounds(int whole);

#endif
