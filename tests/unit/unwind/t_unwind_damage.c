/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks that are damaged: a walk may end anywhere, but never faults. */
#include "recorder/unwind/unwind.h"
#include "../test.h"
#include "code.h"
#include "walk.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { REGION = 512 }; /* words */

static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	return random_state ^= random_state << 17;
}

/* Values that lead somewhere: into the stack, code, data, nowhere. */
static uintptr_t lie(uintptr_t here)
{
	uint64_t r = next_random();

	switch (r >> 8 & 7) {
	case 0:
		return here + (r >> 16) % 8192;
	case 1:
		return (here + (r >> 16) % 8192) & ~(uintptr_t)15;
	case 2:
		return (uintptr_t)qsort + (r >> 16) % 65536;
	case 3:
		return (uintptr_t)&random_state + (r >> 16) % 64;
	case 4:
		return 0x4141414141414141u;
	case 5:
		return (uintptr_t)code_recurse + (r >> 16) % 4096;
	case 6:
		return (r >> 16) % 16;
	default:
		return r;
	}
}

/* Damages the frames above while it walks, and mends them again. */
__attribute__((noinline, no_sanitize("address"))) static void walk_through_damage(uintptr_t *first, uint64_t share,
                                                                                  struct walk *w)
{
	static uintptr_t saved[REGION];

	for (int i = 0; i < REGION; i++) {
		saved[i] = ((volatile uintptr_t *)first)[i];
		if (next_random() % share == 0)
			((volatile uintptr_t *)first)[i] = lie((uintptr_t)first);
	}
	w->count = tare_unwind(w->pc, DEPTH, NULL);
	for (int i = 0; i < REGION; i++)
		((volatile uintptr_t *)first)[i] = saved[i];
}

__attribute__((noinline)) static void damage(void *arg)
{
	static struct walk w;
	uintptr_t *here = __builtin_frame_address(0);
	int *rounds = arg;

	for (int i = 0; i < *rounds; i++)
		walk_through_damage(here, 1u << i % 8, &w);
}

static void damage_deeper(void *arg)
{
	volatile uintptr_t room[REGION * 2]; /* what is damaged lies inside the stack */

	/* Behind the compiler's back, or it keeps only what is used of it. */
	__asm__ volatile("" : : "r"(room) : "memory");
	code_registers(4, damage, arg);
	__asm__ volatile("" : : "r"(room) : "memory");
}

static int damage_rounds = 20000;

TEST(damaged_stack)
{
	code_aligned(3, damage_deeper, &damage_rounds);
}

static void *damage_in_thread(void *arg)
{
	code_vla(3, damage_deeper, arg);
	return NULL;
}

TEST(damaged_stack_of_a_thread)
{
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, damage_in_thread, &damage_rounds));
	pthread_join(thread, NULL);
}

static void raise_it(void *arg)
{
	(void)arg;
	raise(SIGUSR1);
}

static void on_damage(int number)
{
	int rounds = 4000;

	(void)number;
	damage(&rounds);
}

TEST(damaged_signal_frame)
{
	struct sigaction action = { .sa_handler = on_damage };

	CHECK(!sigaction(SIGUSR1, &action, NULL));
	code_aligned(60, raise_it, NULL);
}

/* An overflow that wrote over the return address: the walk ends there and invents nothing. */
__attribute__((noinline, no_sanitize("address"))) static void smash(void *arg)
{
	volatile uintptr_t *frame = __builtin_frame_address(0);
	uintptr_t fp = frame[0], pc = frame[1];
	struct walk *w = arg;

	frame[0] = frame[1] = 0x4141414141414141u;
	w->count = tare_unwind(w->pc, DEPTH, NULL);
	frame[0] = fp;
	frame[1] = pc;
}

TEST(smashed_return_address)
{
	static struct walk w;

	code_recurse(3, smash, &w);
	CHECK_INT(w.count, 1);
}

/* A stack whose end is the end of what is mapped. */
static char *edge;
static ucontext_t outer, on_edge;

static void at_the_edge(void)
{
	uintptr_t *here = __builtin_frame_address(0);
	struct walk w;

	for (int i = 0; i < 500; i++) {
		uintptr_t saved = here[0];

		here[0] = (uintptr_t)edge - 8 * (next_random() % 4);
		w.count = tare_unwind(w.pc, DEPTH, NULL);
		here[0] = saved;
	}
	setcontext(&outer);
}

TEST(stack_at_the_end_of_a_mapping)
{
	size_t size = 64 << 10;
	volatile int is_back = 0;
	char *stack = mmap(NULL, size + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(stack != MAP_FAILED);
	CHECK(!mprotect(stack + size, 4096, PROT_NONE) && !getcontext(&on_edge));
	edge = stack + size;
	on_edge.uc_stack.ss_sp = stack;
	on_edge.uc_stack.ss_size = size;
	makecontext(&on_edge, at_the_edge, 0);
	getcontext(&outer);
	if (!is_back++)
		setcontext(&on_edge);
	munmap(stack, size + 4096);
}
