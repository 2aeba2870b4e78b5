/* SPDX-License-Identifier: Apache-2.0 */
#include "code.h"

#include <alloca.h>
#include <setjmp.h>
#include <string.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

static volatile int sink;

NOINLINE int code_recurse(int depth, code_fn then, void *arg)
{
	if (!depth) {
		then(arg);
		return 1;
	}
	return code_recurse(depth - 1, then, arg) + 1;
}

NOINLINE int code_registers(int depth, code_fn then, void *arg)
{
	int a = depth * 3, b = depth ^ 5, c = depth + 7, d = depth * depth, e = ~depth, f = depth - 9;
	int g = a + b, h = b - c, i = c * d, j = d ^ e;

	for (int n = 0; n < 2; n++) {
		sink += a + n;
		if (n)
			continue;
		if (!depth)
			then(arg);
		else
			g += code_registers(depth - 1, then, arg);
		a += b;
		b ^= c;
	}
	return (a ^ b) + (c ^ d) + (e ^ f) + (g ^ h) + (i ^ j);
}

NOINLINE int code_alloca(int depth, code_fn then, void *arg)
{
	char *room = alloca((size_t)depth * 24 + 8);

	memset(room, depth, (size_t)depth * 24 + 8);
	if (!depth)
		then(arg);
	else
		room[0] += (char)code_alloca(depth - 1, then, arg);
	return room[0] + room[depth];
}

/* An array of variable length, in the form that -Wvla lets pass. */
NOINLINE int code_vla(int depth, code_fn then, void *arg)
{
	int sum = 0;

	for (int n = 1; n < 3; n++) {
		int *row = __builtin_alloca_with_align((size_t)(depth + n) * sizeof(int), 128);

		row[0] = n;
		row[depth] = n;
		if (n == 2 && !depth)
			then(arg);
		else if (n == 2)
			sum += code_vla(depth - 1, then, arg);
		sum += row[0] + row[depth];
	}
	return sum;
}

NOINLINE int code_aligned(int depth, code_fn then, void *arg)
{
	int block[16] __attribute__((aligned(64)));
	char *room = alloca((size_t)depth * 8 + 8);

	memset(block, depth, sizeof(block));
	room[0] = (char)depth;
	if (!depth)
		then(arg);
	else
		block[1] += code_aligned(depth - 1, then, arg);
	sink = block[depth % 16];
	return block[1] + room[0];
}

NOINLINE int code_huge(code_fn then, void *arg)
{
	volatile char room[3 << 20];

	room[0] = 1;
	room[sizeof(room) - 1] = 2;
	then(arg);
	return room[0] + room[sizeof(room) - 1];
}

__attribute__((noinline, noreturn)) static void leave(jmp_buf out, code_fn then, void *arg)
{
	then(arg);
	longjmp(out, 1);
}

__attribute__((noinline, noreturn)) static void last_call(jmp_buf out, code_fn then, void *arg)
{
	leave(out, then, arg);
}

NOINLINE int code_no_return(code_fn then, void *arg)
{
	jmp_buf out;

	if (!setjmp(out))
		last_call(out, then, arg);
	return 1;
}
