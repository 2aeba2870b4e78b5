/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/base/parts.h"
#include "recorder/unwind/unwind.h"
#include "../test.h"
#include "code.h"
#include "recorder/elf/objects.h"
#include "walk.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static void describe(const char *who, const struct walk *w)
{
	for (int i = 0; i < w->count; i++) {
		Dl_info info = { 0 };

		dladdr((void *)w->pc[i], &info);
		printf("# %s %2d %#lx %s %s\n", who, i, (unsigned long)w->pc[i], info.dli_fname ? info.dli_fname : "?",
		       info.dli_sname ? info.dli_sname : "?");
	}
}

static int checks;

/* All but the first address, which is in the function that walks. */
static bool is_same(const struct walk *ours, const struct walk *gcc, bool may_be_longer)
{
	return (ours->count == gcc->count || (may_be_longer && ours->count > gcc->count)) &&
	       !memcmp(ours->pc + 1, gcc->pc + 1, (size_t)(gcc->count - 1) * sizeof(gcc->pc[0]));
}

/* gcc's runtime gives up where there is no CFI, as in the PLT of aarch64. */
static bool may_be_longer;

/* Walks twice (the second time out of the cache) and lets gcc's runtime walk. */
__attribute__((noinline)) static void compare_at_least(int frames)
{
	struct walk gcc = { { 0 }, 0 }, ours[2];

	for (int i = 0; i < 2; i++)
		ours[i].count = tare_unwind(ours[i].pc, DEPTH, NULL);
	_Unwind_Backtrace(walk_note, &gcc);
	while (gcc.count && !gcc.pc[gcc.count - 1])
		gcc.count--;
	for (int i = 0; i < 2; i++) {
		if (gcc.count >= frames && is_same(&ours[i], &gcc, may_be_longer))
			continue;
		describe("ours", &ours[i]);
		describe("gcc ", &gcc);
		CHECK(!"the same frames");
	}
	checks++;
}

static void compare(void *arg)
{
	compare_at_least(*(int *)arg);
}

TEST(recursion)
{
	for (int depth = 0; depth < 400; depth = depth * 3 + 1) {
		int frames = depth + 4;

		code_recurse(depth, compare, &frames);
	}
	CHECK(checks > 4);
}

TEST(callee_saved_registers)
{
	int frames = 14;

	code_registers(10, compare, &frames);
	CHECK(checks);
}

TEST(frames_of_variable_size)
{
	int frames = 14;

	code_alloca(10, compare, &frames);
	code_vla(10, compare, &frames);
	code_aligned(10, compare, &frames);
	CHECK_INT(checks, 3);
}

TEST(huge_frame)
{
	int frames = 4;

	code_huge(compare, &frames);
	CHECK(checks);
}

TEST(call_at_the_end_of_a_function)
{
	int frames = 5;

	code_no_return(compare, &frames);
	CHECK(checks);
}

static void mixed(void *arg)
{
	code_registers(3, compare, arg);
}

TEST(mixed)
{
	int frames = 15;

	code_aligned(4, mixed, &frames);
	code_vla(5, mixed, &frames);
	CHECK_INT(checks, 2);
}

static int by_number(const void *a, const void *b)
{
	compare_at_least(5);
	return *(const int *)a - *(const int *)b;
}

TEST(callbacks_from_libc)
{
	int numbers[] = { 5, 3, 9, 1 }, key = 3;

	qsort(numbers, 4, sizeof(numbers[0]), by_number);
	CHECK(bsearch(&key, numbers, 4, sizeof(numbers[0]), by_number));
	CHECK(checks > 4);
}

#ifdef HAVE_CXX
TEST(cxx)
{
	int frames = 6;

	code_cxx(5, compare, &frames);
	CHECK_INT(checks, 2);
}
#endif

static void *in_thread(void *arg)
{
	code_recurse(20, compare, arg);
	return NULL;
}

TEST(thread)
{
	int frames = 23;
	pthread_t thread;

	for (int i = 0; i < 4; i++) {
		CHECK(!pthread_create(&thread, NULL, in_thread, &frames));
		pthread_join(thread, NULL);
	}
	CHECK_INT(checks, 4);
}

TEST(thread_on_a_stack_of_its_own)
{
	size_t size = 1 << 20;
	char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attr;
	pthread_t thread;
	int frames = 23;

	CHECK(stack != MAP_FAILED);
	pthread_attr_init(&attr);
	CHECK(!pthread_attr_setstack(&attr, stack, size));
	CHECK(!pthread_create(&thread, &attr, in_thread, &frames));
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attr);
	munmap(stack, size);
	CHECK_INT(checks, 1);
}

static int wanted;

static void on_signal(int number)
{
	(void)number;
	code_registers(2, compare, &wanted);
}

static void raise_it(void *arg)
{
	(void)arg;
	raise(SIGUSR1);
}

static void handle(int flags)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = on_signal;
	action.sa_flags = flags;
	CHECK(!sigaction(SIGUSR1, &action, NULL));
	CHECK(!sigaction(SIGSEGV, &action, NULL));
}

TEST(signal_frame)
{
	handle(0);
	wanted = 10;
	code_registers(5, raise_it, NULL);
	CHECK_INT(checks, 1);
}

/* mapped: not below the thread's own stack in one piece with it */
static void use_alternate_stack(void)
{
	stack_t stack = { .ss_size = 256 << 10 };

	stack.ss_sp = mmap(NULL, stack.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(stack.ss_sp != MAP_FAILED && !sigaltstack(&stack, NULL));
}

TEST(signal_on_alternate_stack)
{
	use_alternate_stack();
	handle(SA_ONSTACK);
	wanted = 10;
	code_registers(5, raise_it, NULL);
	code_aligned(5, raise_it, NULL);
	CHECK_INT(checks, 2);
}

static void *signal_in_thread(void *arg)
{
	use_alternate_stack();
	code_registers(5, raise_it, arg);
	return NULL;
}

TEST(signal_on_alternate_stack_of_a_thread)
{
	pthread_t thread;

	handle(SA_ONSTACK);
	wanted = 10;
	CHECK(!pthread_create(&thread, NULL, signal_in_thread, NULL));
	pthread_join(thread, NULL);
	CHECK_INT(checks, 1);
}

/* Interrupted anywhere, also in prologues, epilogues, leaves and PLT stubs. */
static _Atomic int ticks, stop;

static void on_tick(int number)
{
	(void)number;
	compare_at_least(4);
	ticks++;
}

/* gcc 12 describes epilogues of realigned frames wrongly, and its own runtime falls over them. */
static void on_tick_without_gcc(int number)
{
	struct walk w;

	(void)number;
	w.count = tare_unwind(w.pc, DEPTH, NULL);
	ticks++;
}

static void nothing(void *arg)
{
	*(volatile int *)arg += 1;
}

static void *run_until_stopped(void *arg)
{
	int counter = 0;

	while (!stop) {
		code_registers(2, nothing, &counter);
		code_alloca(3, nothing, &counter);
		code_recurse(6, nothing, &counter);
	}
	return arg;
}

static void *run_realigned_until_stopped(void *arg)
{
	int counter = 0;

	while (!stop) {
		code_aligned(2, nothing, &counter);
		code_vla(2, nothing, &counter);
	}
	return arg;
}

static void interrupt(void *(*run)(void *arg), void (*handler)(int number))
{
	struct sigaction action = { .sa_handler = handler };
	pthread_t thread;

	CHECK(!sigaction(SIGUSR2, &action, NULL));
	CHECK(!pthread_create(&thread, NULL, run, NULL));
	for (int i = 0; i < 3000; i++) {
		int before = ticks;

		CHECK(!pthread_kill(thread, SIGUSR2));
		while (ticks == before)
			usleep(20);
	}
	stop = 1;
	pthread_join(thread, NULL);
	CHECK_INT(ticks, 3000);
}

TEST(interrupted_anywhere)
{
#if defined(__aarch64__)
	may_be_longer = true;
#endif
	interrupt(run_until_stopped, on_tick);
}

TEST(interrupted_in_realigned_frames)
{
	interrupt(run_realigned_until_stopped, on_tick_without_gcc);
}

static ucontext_t outer, coroutine;

static void in_coroutine(void)
{
	int frames = 12;

	code_registers(8, compare, &frames);
	swapcontext(&coroutine, &outer);
	code_aligned(8, compare, &frames);
}

TEST(coroutine)
{
	size_t size = 128 << 10;
	char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(stack != MAP_FAILED && !getcontext(&coroutine));
	coroutine.uc_stack.ss_sp = stack;
	coroutine.uc_stack.ss_size = size;
	coroutine.uc_link = &outer;
	makecontext(&coroutine, in_coroutine, 0);
	swapcontext(&outer, &coroutine);
	swapcontext(&outer, &coroutine);
	CHECK_INT(checks, 2);
	munmap(stack, size);
}

struct found {
	uintptr_t begin, end;
	int frames, behind; /* in the range, and further out */
};

__attribute__((noinline)) static void count_frames(void *arg)
{
	struct found *f = arg;
	struct walk w;
	bool seen = false;

	w.count = tare_unwind(w.pc, DEPTH, NULL);
	f->frames = f->behind = 0;
	for (int i = 0; i < w.count; i++) {
		if (w.pc[i] >= f->begin && w.pc[i] < f->end) {
			f->frames++;
			seen = true;
		} else {
			f->behind += seen;
		}
	}
}

/* The functions are small: 4 KiB hold each. */
TEST(frame_pointer_without_cfi)
{
	struct found f = { (uintptr_t)code_framed, (uintptr_t)code_framed + 200, 0, 0 };

	code_framed(6, count_frames, &f);
	printf("# %d frames, %d behind\n", f.frames, f.behind);
	CHECK_INT(f.frames, 7);
	CHECK(f.behind >= 2);
}

TEST(neither_cfi_nor_frame_pointer)
{
	struct found f = { (uintptr_t)code_bare, (uintptr_t)code_bare + 200, 0, 0 };

	code_bare(6, count_frames, &f);
	CHECK(f.frames >= 1 && f.frames <= 7);
}

static uintptr_t load_and_compare(const char *path, int frames, void **handle)
{
	int (*call)(code_fn then, void *arg);

	*handle = dlopen(path, RTLD_NOW);
	CHECK(*handle);
	*(void **)&call = dlsym(*handle, "code_library");
	CHECK(call);
	call(compare, &frames);
	return (uintptr_t)call;
}

/* Alternately, without any notice: the first walk in the new library may find an old row. */
TEST(library_in_the_place_of_another)
{
	uintptr_t at[2];
	void *handle;

	for (int i = 0; i < 6; i++) {
		at[i % 2] = load_and_compare(i % 2 ? TEST_LIBRARY_B : TEST_LIBRARY_A, 6, &handle);
		dlclose(handle);
		tare_objects_changed();
	}
	if (at[0] != at[1])
		SKIP("the linker chose another address");
}

TEST(stale_rows_do_not_last)
{
	int (*call)(code_fn then, void *arg);
	struct walk w = { { 0 }, 0 };
	void *handle;

	load_and_compare(TEST_LIBRARY_A, 6, &handle);
	dlclose(handle);
	handle = dlopen(TEST_LIBRARY_B, RTLD_NOW); /* nobody tells us */
	CHECK(handle);
	*(void **)&call = dlsym(handle, "code_library");
	for (int i = 0; i < 64; i++)
		tare_unwind(w.pc, DEPTH, NULL);
	load_and_compare(TEST_LIBRARY_B, 6, &handle);
}

struct tail {
	struct walk all, cut;
};

__attribute__((noinline)) static void walk_from_here(void *arg)
{
	struct tail *t = arg;

	t->all.count = tare_unwind(t->all.pc, DEPTH, NULL);
	t->cut.count = tare_unwind(t->cut.pc, DEPTH, __builtin_frame_address(0));
}

TEST(begins_at_a_frame)
{
	static struct tail t;

	code_recurse(3, walk_from_here, &t);
	CHECK_INT(t.cut.count, t.all.count - 1);
	CHECK(!memcmp(t.cut.pc, t.all.pc + 1, (size_t)t.cut.count * sizeof(t.cut.pc[0])));
}

TEST(limited)
{
	uintptr_t pc[3] = { 0, 0, 77 };

	CHECK_INT(tare_unwind(pc, 2, NULL), 2);
	CHECK_INT(pc[2], 77);
	CHECK_INT(tare_unwind(pc, 0, NULL), 0);
}

static void *walk_until_stopped(void *arg)
{
	static __thread struct walk w;

	(void)arg;
	while (!stop) {
		struct found f = { (uintptr_t)code_recurse, (uintptr_t)code_recurse + 200, 0, 0 };

		code_recurse(5, count_frames, &f);
		CHECK_INT(f.frames, 6);
		w.count = tare_unwind(w.pc, DEPTH, NULL);
	}
	return NULL;
}

TEST(libraries_come_and_go_in_another_thread)
{
	pthread_t thread[3];

#ifdef HAS_THREAD_SANITIZER
	SKIP("ThreadSanitizer does not know the dynamic linker's lock, and takes it to report a race");
#endif
	for (int i = 0; i < 3; i++)
		CHECK(!pthread_create(&thread[i], NULL, walk_until_stopped, NULL));
	for (int i = 0; i < 300; i++) {
		const char *path = i % 3 ? TEST_LIBRARY_A : TEST_LIBRARY_B;
		void *handle;

		load_and_compare(path, 6, &handle);
		dlclose(handle);
		tare_objects_changed();
	}
	stop = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
}

TEST(forked_child)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		int frames = 8;

		tare_objects_forked();
		code_registers(5, compare, &frames);
		_exit(checks == 1 ? 0 : 1);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}
