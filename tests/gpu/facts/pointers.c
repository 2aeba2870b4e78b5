/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls every hooked row of cuda_api.def with odd values in one parameter at a time, all others being
 * in order, and prints what the driver answers, a line a call:
 *
 *     ROW PARAMETER VALUE result N errno N wrote BITS      BITS: through which parameters it wrote
 *     ROW PARAMETER VALUE signal N                         it died of that
 *
 * A worker process does this until it dies or its context is spoilt; the next one goes on behind that
 * call. The same lines come from a recorded run (tests/e2e/t_pointers.py), and the real driver's show
 * where it takes NULL (tests/gpu/pointers.sh).
 *
 *     pointers null|odd [ROW]
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pointers_args.h"

/* What is registered of one page (2 MiB) does not reach the next. */
enum { APART = 4 << 20, AGAIN = 77, ERRNO = 4242, WORKER_CALLS = 48 };

enum shape { NEW, DEL, WEIGH, FIRST, SYNC, NOTE, CUSTOM, ANSWER, CALL };
static const struct row {
	const char *symbol, *params;
	enum shape shape;
} rows[] = {
#define CU_API(symbol, name, version, ptsz, shape, class, params, args, sets) { #symbol, #params, shape },
#include "recorder/cuda/cuda_api.def"
#undef CU_API
};

void *driver;
char *good[PARAMETERS], *constant; /* of good, the page behind cannot be read */
static char *unreadable;
static int (*real)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
                   uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);

/* ---- odd values ---- */
enum odd { IS_NULL, IS_ONE, UNALIGNED, AT_THE_END, UNREADABLE, CONSTANT, OF_THE_KERNEL, NOWHERE, ODD_NR };
static const char *const odd_names[] = { "NULL",       "one",      "unaligned", "end-of-page",
	                                     "unreadable", "constant", "kernel",    "nowhere" };

static uintptr_t odd_value(enum odd odd, int i)
{
	switch (odd) {
	case IS_ONE:
		return 1;
	case UNALIGNED:
		return (uintptr_t)good[i] + 1;
	case AT_THE_END:
		return (uintptr_t)good[i] + PAGE - 4;
	case UNREADABLE:
		return (uintptr_t)unreadable;
	case CONSTANT:
		return (uintptr_t)constant;
	case OF_THE_KERNEL:
		return (uintptr_t)0xffff800000001000;
	case NOWHERE:
		return (uintptr_t)0x8000000000000010;
	default:
		return 0;
	}
}

/* Numbers: none, and more than there can be. */
static uintptr_t odd_number(enum odd odd)
{
	return odd == IS_NULL ? 0 : odd == IS_ONE ? UINT32_MAX : UINTPTR_MAX;
}

/* ---- one call ---- */
static void call(const struct row *row, const struct parameter *p, int nr, int odd_one, enum odd odd)
{
	uintptr_t value[PARAMETERS], a[PARAMETERS] = { 0 };
	uint64_t before[PARAMETERS];
	unsigned int wrote = 0;
	int i, n = 0, result, left;
	char line[200];

	args_fill(row->symbol, p, nr, value);
	value[odd_one] = p[odd_one].is_pointer || p[odd_one].is_handle ? odd_value(odd, odd_one) : odd_number(odd);
	for (i = 0; i < nr; i++) {
		memcpy(&before[i], good[i], sizeof(before[i]));
#if defined(__x86_64__)
		if (p[i].is_big)
			continue; /* it lies on the stack, where there are zeros */
#endif
		a[n++] = value[i];
	}
	*(void **)&real = dlsym(driver, row->symbol);
	errno = ERRNO;
	result = real ? real(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13]) : -1;
	left = errno;
	for (i = 0; i < nr; i++)
		wrote |= (unsigned int)(memcmp(&before[i], good[i], sizeof(before[i])) != 0) << i;
	n = snprintf(line, sizeof(line), "%s %s %s result %d errno %d wrote %x\n", row->symbol, p[odd_one].name,
	             odd_names[odd], result, left == ERRNO ? 0 : left, wrote);
	if (write(1, line, (size_t)n) != n)
		exit(2);
}

static bool spoils(const struct row *row)
{
	return strstr(row->symbol, "Primary") || strstr(row->symbol, "cuCtxDestroy") || CU(cuCtxSynchronize, NULL) != 0;
}

/* ---- all of them ---- */
struct place {
	const struct row *row;
	struct parameter p[PARAMETERS];
	int nr, parameter;
	enum odd odd;
};

static enum odd odd_count(bool is_all, const struct parameter *p)
{
	if (p->is_big)
		return IS_NULL;
	if (!is_all)
		return p->is_pointer || p->is_handle ? IS_ONE : IS_NULL;
	return p->is_pointer ? ODD_NR : p->is_handle ? UNALIGNED : AT_THE_END;
}

/* The call of this number; false: there are not so many. */
static bool find(long number, bool is_all, const char *only, struct place *out)
{
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].shape == CALL || (only && strcmp(only, rows[i].symbol) != 0))
			continue;
		out->row = &rows[i];
		out->nr = args_parse(rows[i].params, out->p);
		for (out->parameter = 0; out->parameter < out->nr; out->parameter++) {
			long nr = odd_count(is_all, &out->p[out->parameter]);

			if (number < nr) {
				out->odd = (enum odd)number;
				return true;
			}
			number -= nr;
		}
	}
	return false;
}

static void start(void)
{
	const struct rlimit none = { 0, 0 };
	void *context = NULL;
	int i;

	setrlimit(RLIMIT_CORE, &none);
	driver = dlopen("libcuda.so.1", RTLD_NOW);
	if (!driver || CU(cuInit, 0) || CU(cuDevicePrimaryCtxRetain, &context, 0) || CU(cuCtxSetCurrent, context))
		_exit(2);
	unreadable = mmap(NULL, (PARAMETERS + 2) * APART, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	constant = unreadable + APART;
	mprotect(constant, PAGE, PROT_READ);
	for (i = 0; i < PARAMETERS; i++) {
		good[i] = constant + (size_t)(i + 1) * APART;
		mprotect(good[i], PAGE, PROT_READ | PROT_WRITE);
	}
}

static void work(volatile long *number, bool is_all, const char *only)
{
	struct place place;
	int calls;

	start();
	for (calls = 0; find(*number, is_all, only, &place); ++*number) {
		alarm(30);
		call(place.row, place.p, place.nr, place.parameter, place.odd);
		if (spoils(place.row) || ++calls == WORKER_CALLS) {
			++*number;
			_exit(AGAIN);
		}
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	volatile long *number = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	bool is_all = argc > 1 && strcmp(argv[1], "odd") == 0;
	const char *only = argc > 2 ? argv[2] : NULL;
	struct place place;
	int status = 0;

	args_image_file();
	do {
		pid_t worker = fork();

		if (worker == 0)
			work(number, is_all, only);
		if (worker < 0 || waitpid(worker, &status, 0) != worker)
			return 2;
		if (WIFSIGNALED(status) && find((*number)++, is_all, only, &place)) {
			printf("%s %s %s signal %d\n", place.row->symbol, place.p[place.parameter].name, odd_names[place.odd],
			       WTERMSIG(status));
			fflush(stdout);
		}
	} while (WIFSIGNALED(status) || WEXITSTATUS(status) == AGAIN);
	unlink(args_image_file());
	return WEXITSTATUS(status);
}
