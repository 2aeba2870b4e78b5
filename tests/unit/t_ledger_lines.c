/* SPDX-License-Identifier: Apache-2.0 */
/* What every line of a program holds, and which of its lines is the user's. */
#include "ledger/line.h"
#include "ledger_world.h"
#include "test.h"

#define BASE UINT64_C(0x7f0000000000)

static const struct tare_ledger_line *line(const struct tare_ledger *l, const char *label)
{
	const struct tare_device_ledger *d = &l->devices[0];

	for (int i = 0; i < d->line_nr; i++)
		if (!strcmp(d->lines[i].label, label))
			return &d->lines[i];
	test_fail(__FILE__, __LINE__, "there is no line %s", label);
	return NULL;
}

static int64_t bytes(const struct tare_ledger *l, const char *label)
{
	return line(l, label)->bytes;
}

/* A weighed call of a class, which moves the device by `change`. */
static void weigh(struct world *w, int64_t t, enum tare_class class, enum tare_effect effect, uint64_t handle,
                  int64_t before, int64_t change, uint32_t at)
{
	CALL(w, .class = class, .effect = effect, .begin = t * MS, .end = t * MS + MS / 2, .handle = handle,
	     .context = 0xc0, .weigh = true, .before = before, .after = before + change,
	     .file = at ? "/home/me/train.py" : NULL, .line = at);
}

static void alloc(struct world *w, int64_t t, uint64_t handle, int64_t size, int64_t before, uint32_t at)
{
	CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = t * MS, .end = t * MS + MS / 2,
	     .handle = handle, .context = 0xc0, .asked = (uint64_t)size, .granted = (uint64_t)size, .weigh = true,
	     .before = before, .after = before + 2 * MIB, .file = "/home/me/train.py", .line = at,
	     .owner = "/x/libc10_cuda.so");
}

TEST(lines_hold_what_they_asked_for)
{
	struct world *w = world_new();
	struct tare_ledger l;

	weigh(w, 1, TARE_CLASS_CONTEXT, TARE_EFFECT_NEW, 0xc0, 0, 500 * MIB, 5);
	weigh(w, 2, TARE_CLASS_MODULE, TARE_EFFECT_NEW, 0xd0, 500 * MIB, 4 * MIB, 9);
	alloc(w, 3, BASE, MIB, 504 * MIB, 9);
	alloc(w, 4, BASE + 4 * MIB, MIB / 2, 506 * MIB, 9);
	alloc(w, 5, BASE + 8 * MIB, MIB, 508 * MIB, 12);
	weigh(w, 6, TARE_CLASS_DEVICE, TARE_EFFECT_DEL, BASE, 510 * MIB, -2 * MIB, 99);
	l = world_ledger(w, "end");
	CHECK_INT(bytes(&l, "/home/me/train.py:5 in step"), 500 * MIB);
	CHECK_INT(bytes(&l, "/home/me/train.py:9 in step"), 4 * MIB + MIB / 2);
	CHECK_INT(bytes(&l, "/home/me/train.py:12 in step"), MIB);
	CHECK_INT(bytes(&l, "granularity"), 2 * MIB + MIB / 2);
	CHECK_STR(line(&l, "/home/me/train.py:12 in step")->short_label, "train.py:12 in step");
	CHECK_STR(line(&l, "/home/me/train.py:12 in step")->stack, "/home/me/train.py:12 in step < main.py:1 in <module>");
	tare_ledger_free(&l);
	l = world_ledger(w, "peak");
	CHECK_INT(bytes(&l, "/home/me/train.py:9 in step"), 5 * MIB + MIB / 2);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(ledgers_of_a_fold_share_the_names_of_their_lines)
{
	static const char *const at[] = { "2ms", "peak", "end" };
	struct world *w = world_new();
	struct tare_line_names names = { 0 };
	struct tare_ledger l[3], alone;

	weigh(w, 1, TARE_CLASS_CONTEXT, TARE_EFFECT_NEW, 0xc0, 0, 500 * MIB, 5);
	alloc(w, 3, BASE, MIB, 500 * MIB, 9);
	world_build(w, &(struct tare_ledger_opts){ .line_names = &names }, at, 3, l);
	for (int i = 1; i < 3; i++)
		CHECK(line(&l[i], "/home/me/train.py:5 in step")->stack == line(l, "/home/me/train.py:5 in step")->stack);
	CHECK(line(&l[2], "/home/me/train.py:9 in step")->label == line(&l[1], "/home/me/train.py:9 in step")->label);
	CHECK_INT(names.by_site.count, 2);
	alone = world_ledger(w, "end");
	for (int i = 0; i < alone.devices[0].line_nr; i++) {
		const struct tare_ledger_line *own = &alone.devices[0].lines[i], *shared = line(&l[2], own->label);

		CHECK_STR(shared->stack, own->stack);
		CHECK_STR(shared->short_stack, own->short_stack);
		CHECK_STR(shared->short_label, own->short_label);
		CHECK_INT(shared->frame_nr, own->frame_nr);
		CHECK_INT(shared->line, own->line);
		CHECK_INT(shared->bytes, own->bytes);
	}
	tare_ledger_free(&alone);
	for (int i = 0; i < 3; i++)
		tare_ledger_free(&l[i]);
	tare_line_names_free(&names);
	world_free(w);
}

/* A module that a library loads, or unloads. */
static void load(struct world *w, int64_t t, enum tare_effect effect, int64_t before, int64_t change, uint64_t handle,
                 uint32_t at, const char *owner)
{
	CALL(w, .class = TARE_CLASS_MODULE, .effect = effect, .begin = t * MS, .end = t * MS + MS / 2, .handle = handle,
	     .context = 0xc0, .weigh = true, .before = before, .after = before + change, .file = "/home/me/train.py",
	     .line = at, .owner = owner);
}

TEST(kernel_code_of_a_line_is_told_by_library)
{
	struct world *w = world_new();
	const struct tare_ledger_line *at;
	struct tare_ledger l;

	weigh(w, 1, TARE_CLASS_CONTEXT, TARE_EFFECT_NEW, 0xc0, 0, 500 * MIB, 5);
	load(w, 2, TARE_EFFECT_NEW, 500 * MIB, 6 * MIB, 0xd0, 9, "/x/libcublasLt.so.12");
	load(w, 3, TARE_EFFECT_NEW, 506 * MIB, 4 * MIB, 0xd1, 9, "/x/libtorch_cuda.so");
	load(w, 4, TARE_EFFECT_NEW, 510 * MIB, 2 * MIB, 0xd2, 9, "/x/libtorch_cuda.so");
	/* Unloaded at another line: it is taken from its own library. */
	load(w, 5, TARE_EFFECT_DEL, 512 * MIB, -2 * MIB, 0xd2, 99, "/x/libtorch_cuda.so");
	/* … and by another library, which has none. */
	load(w, 6, TARE_EFFECT_DEL, 510 * MIB, -1 * MIB, 0xd3, 99, "/x/libother.so");
	l = world_ledger(w, "end");
	at = line(&l, "/home/me/train.py:9 in step");
	CHECK_INT(at->bytes, 9 * MIB);
	CHECK_INT(at->part_nr, 2);
	for (int i = 0; i < at->part_nr; i++) {
		CHECK_INT(at->parts[i].account, TARE_ACCOUNT_CODE);
		CHECK_INT(at->parts[i].bytes, strcmp(at->parts[i].owner, "libtorch_cuda") ? 5 * MIB : 4 * MIB);
	}
	tare_ledger_free(&l);
	l = world_ledger(w, "peak");
	CHECK_INT(bytes(&l, "/home/me/train.py:9 in step"), 12 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

/* A wait is known to give back memory of pools and nothing else; an allocation takes its pages. */
static void wait_for(struct world *w, int64_t t, int64_t before, int64_t change, uint32_t at)
{
	CALL(w, .class = TARE_CLASS_POOL, .effect = TARE_EFFECT_CHANGE, .begin = t * MS, .end = t * MS + MS / 2,
	     .context = 0xc0, .weigh = true, .before = before, .after = before + change,
	     .file = at ? "/home/me/train.py" : NULL, .line = at);
}

static void check_unexplained(struct world *w, const char *at, const char *label, int64_t of_line, int64_t of_all)
{
	struct tare_ledger l = world_ledger(w, at);

	CHECK_INT(line(&l, label)->unexplained, of_line);
	CHECK_INT(l.devices[0].unexplained, of_all);
	tare_ledger_free(&l);
}

TEST(lines_have_what_their_calls_changed_and_nothing_explains)
{
	struct world *w = world_new();
	struct tare_ledger l;

	weigh(w, 1, TARE_CLASS_CONTEXT, TARE_EFFECT_NEW, 0xc0, 0, 500 * MIB, 5);
	wait_for(w, 2, 500 * MIB, 3 * MIB, 9);
	alloc(w, 3, BASE, 2 * MIB, 503 * MIB, 9);
	wait_for(w, 4, 505 * MIB, MIB, 12);
	wait_for(w, 5, 507 * MIB, 0, 12); /* 1 MiB came between the calls: of no line */
	wait_for(w, 6, 507 * MIB, MIB, 0);
	check_unexplained(w, "end", "/home/me/train.py:9 in step", 3 * MIB, 6 * MIB);
	check_unexplained(w, "end", "/home/me/train.py:12 in step", MIB, 6 * MIB);
	check_unexplained(w, "3.2ms", "/home/me/train.py:9 in step", 3 * MIB, 3 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(bytes(&l, "/home/me/train.py:9 in step"), 2 * MIB);
	for (int i = 0; i < l.devices[0].line_nr; i++)
		CHECK(strcmp(l.devices[0].lines[i].label, "no line") != 0);
	tare_ledger_free(&l);
	world_free(w);
}

/* A call that frees is of the line that it stands in, not of the line that made what goes. */
TEST(a_free_that_gives_back_too_much_is_unexplained_at_its_line)
{
	struct world *w = world_new();
	struct tare_ledger l;

	weigh(w, 1, TARE_CLASS_CONTEXT, TARE_EFFECT_NEW, 0xc0, 0, 500 * MIB, 5);
	alloc(w, 2, BASE, 2 * MIB, 500 * MIB, 9);
	weigh(w, 3, TARE_CLASS_DEVICE, TARE_EFFECT_DEL, BASE, 502 * MIB, -3 * MIB, 99);
	check_unexplained(w, "end", "/home/me/train.py:99 in step", -MIB, -MIB);
	l = world_ledger(w, "peak");
	CHECK_INT(line(&l, "/home/me/train.py:9 in step")->unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(what_is_unexplained_goes_from_the_lines_that_have_it)
{
	struct world *w = world_new();
	struct tare_ledger l;

	weigh(w, 1, TARE_CLASS_CONTEXT, TARE_EFFECT_NEW, 0xc0, 0, 500 * MIB, 5);
	wait_for(w, 2, 500 * MIB, 2 * MIB, 9);
	wait_for(w, 3, 502 * MIB, 5 * MIB, 10);
	wait_for(w, 4, 507 * MIB, -3 * MIB, 9);
	check_unexplained(w, "peak", "/home/me/train.py:9 in step", 2 * MIB, 7 * MIB);
	check_unexplained(w, "end", "/home/me/train.py:10 in step", 4 * MIB, 4 * MIB);
	/* The context takes it along: nothing of it is the context's. */
	weigh(w, 5, TARE_CLASS_CONTEXT, TARE_EFFECT_DEL, 0xc0, 504 * MIB, -504 * MIB, 20);
	l = world_ledger(w, "end");
	CHECK_INT(l.devices[0].unexplained, 0);
	CHECK_INT(bytes(&l, "/home/me/train.py:5 in step"), 0);
	for (int i = 0; i < l.devices[0].line_nr; i++)
		CHECK_INT(l.devices[0].lines[i].unexplained, 0);
	tare_ledger_free(&l);
	world_free(w);
}

/* Allocations of two threads at once: 1 MiB more than they asked for came while one of them, or both, ran. */
static void check_two(uint32_t first, uint32_t second, int64_t of_first)
{
	struct world *w = world_new();

	weigh(w, 1, TARE_CLASS_CONTEXT, TARE_EFFECT_NEW, 0xc0, 0, 500 * MIB, 5);
	CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = 2 * MS, .end = 6 * MS, .tid = 1,
	     .handle = BASE, .context = 0xc0, .asked = 2 * MIB, .granted = 2 * MIB, .weigh = true, .before = 500 * MIB,
	     .after = 505 * MIB, .file = "/home/me/train.py", .line = first);
	CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = 3 * MS, .end = 5 * MS, .tid = 2,
	     .handle = BASE + 4 * MIB, .context = 0xc0, .asked = 2 * MIB, .granted = 2 * MIB, .weigh = true,
	     .before = 502 * MIB, .after = 505 * MIB, .file = "/home/me/train.py", .line = second);
	check_unexplained(w, "end", "/home/me/train.py:9 in step", of_first, MIB);
	world_free(w);
}

TEST(of_calls_that_overlap_only_one_line_can_be_told)
{
	check_two(9, 9, MIB);
	check_two(9, 12, 0);
}

/* Four streams share what the first of them took; the last to go gives it back. */
TEST(what_goes_is_taken_from_the_lines_that_have_it)
{
	struct world *w = world_new();
	struct tare_ledger l;

	weigh(w, 1, TARE_CLASS_CONTEXT, TARE_EFFECT_NEW, 0xc0, 0, 500 * MIB, 5);
	weigh(w, 2, TARE_CLASS_STREAM, TARE_EFFECT_NEW, 1, 500 * MIB, 2 * MIB, 10);
	weigh(w, 3, TARE_CLASS_STREAM, TARE_EFFECT_NEW, 2, 502 * MIB, 0, 20);
	weigh(w, 4, TARE_CLASS_STREAM, TARE_EFFECT_NEW, 3, 502 * MIB, 4 * MIB, 30);
	weigh(w, 5, TARE_CLASS_STREAM, TARE_EFFECT_DEL, 1, 506 * MIB, 0, 40);
	weigh(w, 6, TARE_CLASS_STREAM, TARE_EFFECT_DEL, 2, 506 * MIB, -3 * MIB, 40);
	l = world_ledger(w, "end");
	CHECK_INT(bytes(&l, "/home/me/train.py:10 in step"), 2 * MIB); /* not from the largest … */
	CHECK_INT(bytes(&l, "/home/me/train.py:30 in step"), MIB);     /* … but from it */
	CHECK_INT(bytes(&l, "/home/me/train.py:20 in step"), 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(nobody_knows_the_line)
{
	struct world *w = world_new();
	struct tare_ledger l;

	weigh(w, 1, TARE_CLASS_CONTEXT, TARE_EFFECT_NEW, 0xc0, 0, 500 * MIB, 0);
	l = world_ledger(w, "end");
	CHECK_INT(bytes(&l, "no line"), 500 * MIB);
	CHECK(!line(&l, "no line")->file);
	tare_ledger_free(&l);
	world_free(w);
}

static void check_tensors(const struct tare_ledger *l, const char *label, int64_t now, uint64_t count, int64_t ever,
                          uint64_t ever_nr)
{
	const struct tare_ledger_line *at = line(l, label);

	CHECK_INT(at->tensors.bytes, now);
	CHECK_INT(at->tensors.count, count);
	CHECK_INT(at->tensors.ever_bytes, ever);
	CHECK_INT(at->tensors.ever, ever_nr);
}

/* The segment is the first line's; what is in it is of whoever made the tensors. */
static struct world *tensors(void)
{
	struct world *w = world_new();

	weigh(w, 1, TARE_CLASS_CONTEXT, TARE_EFFECT_NEW, 0xc0, 0, 500 * MIB, 5);
	alloc(w, 2, BASE, 2 * MIB, 500 * MIB, 12);
	world_tensor_at(w, 3 * MS, BASE, 1024, "/home/me/train.py", 12);
	world_tensor_at(w, 4 * MS, BASE + 1024, 512, "/home/me/train.py", 14);
	for (int i = 0; i < 100; i++) {
		world_tensor_at(w, 5 * MS + 20 * i, BASE + 4096, 2048, "/home/me/train.py", 14);
		world_tensor_at(w, 5 * MS + 20 * i + 10, BASE + 4096, 0, NULL, 0);
	}
	world_tensor(w, 6 * MS, BASE + 8192, 512);
	return w;
}

TEST(lines_have_the_tensors_that_they_made)
{
	struct world *w = tensors();
	struct tare_ledger l = world_ledger(w, "end");

	check_tensors(&l, "/home/me/train.py:5 in step", 0, 0, 0, 0);
	check_tensors(&l, "/home/me/train.py:12 in step", 1024, 1, 1024, 1);
	check_tensors(&l, "/home/me/train.py:14 in step", 512, 1, 512 + 100 * 2048, 101);
	check_tensors(&l, "no line", 512, 1, 512, 1);
	CHECK_INT(bytes(&l, "/home/me/train.py:12 in step"), 2 * MIB);
	CHECK_INT(bytes(&l, "/home/me/train.py:14 in step"), 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(lines_have_the_tensors_of_the_instant)
{
	struct world *w = tensors();
	struct tare_ledger l = world_ledger(w, "4.5ms");

	check_tensors(&l, "/home/me/train.py:14 in step", 512, 1, 512, 1);
	tare_ledger_free(&l);
	l = world_ledger(w, "peak:tensors");
	check_tensors(&l, "/home/me/train.py:14 in step", 512 + 2048, 2, 512 + 2048, 2);
	tare_ledger_free(&l);
	world_free(w);
}

/* Handed out again, its end not seen: one block less for the line that had it. */
TEST(lines_lose_a_tensor_whose_end_was_not_seen)
{
	struct world *w = tensors();
	struct tare_ledger l;

	world_tensor_at(w, 7 * MS, BASE, 4096, "/home/me/train.py", 20);
	l = world_ledger(w, "end");
	check_tensors(&l, "/home/me/train.py:12 in step", 0, 0, 1024, 1);
	check_tensors(&l, "/home/me/train.py:20 in step", 4096, 1, 4096, 1);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(lines_lose_tensors_with_their_segment)
{
	struct world *w = tensors();
	struct tare_ledger l;

	weigh(w, 8, TARE_CLASS_DEVICE, TARE_EFFECT_DEL, BASE, 502 * MIB, -2 * MIB, 99);
	l = world_ledger(w, "end");
	check_tensors(&l, "/home/me/train.py:12 in step", 0, 0, 1024, 1);
	check_tensors(&l, "/home/me/train.py:14 in step", 0, 0, 512 + 100 * 2048, 101);
	tare_ledger_free(&l);
	world_free(w);
}

/* A library is loaded before the GPU is opened; the context takes host memory too. */
TEST(lines_have_what_they_made_resident_on_the_host)
{
	struct world *w = world_new();
	struct tare_ledger l;

	world_rss(w, 0, MS / 2, 30 * MIB, 90 * MIB, "/home/me/train.py", 1);
	weigh(w, 1, TARE_CLASS_CONTEXT, TARE_EFFECT_NEW, 0xc0, 0, 500 * MIB, 5);
	world_rss(w, 0, MS + MS / 2, 20 * MIB, 0, "/home/me/train.py", 5);
	weigh(w, 2, TARE_CLASS_MODULE, TARE_EFFECT_NEW, 0xd0, 500 * MIB, 4 * MIB, 5);
	world_rss(w, 0, 2 * MS + MS / 2, 3 * MIB, MIB, "/home/me/train.py", 5);
	weigh(w, 3, TARE_CLASS_MODULE, TARE_EFFECT_DEL, 0xd0, 504 * MIB, -4 * MIB, 9);
	world_rss(w, 0, 4 * MS, -2 * MIB, 0, NULL, 0);
	weigh(w, 5, TARE_CLASS_STREAM, TARE_EFFECT_NEW, 1, 500 * MIB, 0, 10);
	l = world_ledger(w, "end");
	CHECK_INT(line(&l, "/home/me/train.py:1 in step")->host_file, 90 * MIB);
	CHECK_INT(line(&l, "/home/me/train.py:5 in step")->host_anon, 23 * MIB);
	CHECK_INT(line(&l, "no line")->host_anon, -2 * MIB);
	tare_ledger_free(&l);
	l = world_ledger(w, "peak");
	CHECK_INT(line(&l, "/home/me/train.py:5 in step")->host_anon, 23 * MIB);
	CHECK_INT(line(&l, "/home/me/train.py:1 in step")->host_anon, 30 * MIB);
	tare_ledger_free(&l);
	l = world_ledger(w, "1.9ms");
	CHECK_INT(line(&l, "/home/me/train.py:5 in step")->host_anon, 20 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(tensors_of_the_backward_pass_have_a_line_of_their_own)
{
	struct world *w = tensors();
	struct tare_ledger l;

	world_tensor_of_backward(w, 7 * MS, BASE + 16384, 4096);
	world_tensor_of_backward(w, 8 * MS, BASE + 32768, 512);
	world_tensor(w, 9 * MS, BASE + 32768, 0);
	l = world_ledger(w, "end");
	check_tensors(&l, "backward (autograd's threads, no Python line)", 4096, 1, 4096 + 512, 2);
	check_tensors(&l, "no line", 512, 1, 512, 1);
	tare_ledger_free(&l);
	world_free(w);
}

struct pool_call {
	const char *owner, *file, *label;
};

/* Every call takes 2 MiB. */
static void check_pools(const struct pool_call *calls, uint32_t count)
{
	struct world *w = world_new();
	struct tare_ledger l;

	weigh(w, 1, TARE_CLASS_CONTEXT, TARE_EFFECT_NEW, 0xc0, 0, 500 * MIB, 5);
	for (uint32_t i = 0; i < count; i++)
		CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = (2 + i) * MS, .end = (2 + i) * MS + 10,
		     .handle = BASE + i * 4 * MIB, .context = 0xc0, .asked = 2 * MIB, .granted = 2 * MIB, .weigh = true,
		     .before = (500 + 2 * i) * MIB, .after = (502 + 2 * i) * MIB, .file = calls[i].file, .line = i + 1,
		     .owner = calls[i].owner);
	l = world_ledger(w, "end");
	for (uint32_t i = 0; i < count; i++) {
		bool is_there = false;

		for (int k = 0; k < l.devices[0].row_nr; k++)
			is_there |= !strcmp(l.devices[0].rows[k].label, calls[i].label);
		if (!is_there)
			test_fail(__FILE__, __LINE__, "there is no row %s", calls[i].label);
	}
	tare_ledger_free(&l);
	world_free(w);
}

/* Numba calls the driver by ctypes; the package of the Python code that does is the owner. */
TEST(pools_of_frameworks_are_called_by_their_names)
{
	static const struct pool_call calls[] = {
		{ "/v/site-packages/cupy_backends/runtime.cpython-311-x86_64-linux-gnu.so", "/home/me/a.py",
		  "CuPy pool (cupy_backends.runtime)" },
		{ "/x/xla_cuda_plugin.so", "/home/me/a.py", "JAX (XLA) pool (xla_cuda_plugin)" },
		{ "/x/libffi.so.8", "/v/site-packages/numba/cuda/cudadrv/driver.py", "Numba (numba)" },
		{ "/x/libffi.so.8", "/home/me/a.py", "libffi" },
	};

	check_pools(calls, sizeof(calls) / sizeof(calls[0]));
}

/* Likewise by cuda-python, as numba-cuda does. */
TEST(who_calls_cuda_python_is_the_owner)
{
	static const struct pool_call calls[] = {
		{ "/v/site-packages/cuda/bindings/cydriver.cpython-312-x86_64-linux-gnu.so",
		  "/v/site-packages/numba_cuda/numba/cuda/cudadrv/driver.py", "Numba (numba_cuda)" },
		{ "/v/site-packages/cuda/bindings/cydriver.cpython-312-x86_64-linux-gnu.so", "/home/me/b.py", "cuda.cydriver" },
	};

	check_pools(calls, sizeof(calls) / sizeof(calls[0]));
}

TEST(library_code_is_told_by_its_file)
{
	static const char *const library[] = {
		"/usr/lib/python3.11/contextlib.py",
		"/opt/conda/lib/python3.9/site-packages/torch/nn/modules/module.py",
		"/usr/lib/python3/dist-packages/numpy/core/numeric.py",
		"/usr/lib/python311.zip/os.py",
		"/usr/lib64/python3.6/threading.py",
		"/home/me/.pyenv/versions/3.13.0/lib/python3.13/asyncio/base_events.py",
		"/opt/lib/python3.13t/os.py",
		"<frozen importlib._bootstrap>",
		"<__array_function__ internals>",
		"<eval_with_key>.17",
		"/tmp/torchinductor_me/ab/cab.py",
	};
	static const char *const own[] = {
		"train.py",
		"/home/me/train.py",
		"<string>",
		"<stdin>",
		"<ipython-input-3-abc>",
		"/home/me/python3/train.py",
		"/home/me/python3.11/train.py",
		"/srv/site/packages/x.py",
		"",
	};

	for (size_t i = 0; i < sizeof(library) / sizeof(library[0]); i++)
		if (!tare_line_is_library(library[i]))
			test_fail(__FILE__, __LINE__, "%s is library code", library[i]);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (tare_line_is_library(own[i]))
			test_fail(__FILE__, __LINE__, "%s is the user's", own[i]);
}

static void check_line(const struct tare_line *lines, uint32_t depth, const char *want)
{
	const struct tare_line_stack stack = { .lines = lines, .depth = depth };
	struct tare_str text = { 0 };

	tare_line_add(&text, tare_line_of_user(&stack), false);
	CHECK_STR(tare_str_text(&text), want);
	tare_str_free(&text);
}

/* A server: its children, and the script that pip wrote, only begin what the package does. */
TEST(what_only_begins_a_library_is_no_line_of_the_program)
{
	static const struct tare_line child[] = { { "/v/lib/python3.11/site-packages/sglang/pool.py", "_create", 640 },
		                                      { "/usr/lib/python3.11/multiprocessing/spawn.py", "_main", 122 },
		                                      { "<string>", "<module>", 1 } };
	static const struct tare_line command[] = { { "/v/lib/python3.11/site-packages/x.py", "make", 3 },
		                                        { "<string>", "<module>", 1 } };
	static const struct tare_line script[] = { { "/v/lib/python3.11/site-packages/vllm/cache.py", "make", 7 },
		                                       { "/v/lib/python3.11/site-packages/vllm/cli.py", "main", 9 },
		                                       { "/v/bin/vllm", "<module>", 8 } };
	static const struct tare_line own[] = { { "/v/lib/python3.11/site-packages/vllm/cache.py", "make", 7 },
		                                    { "/home/me/bin/serve", "<module>", 8 } };
	static const struct tare_line function[] = { { "/v/lib/python3.11/site-packages/x.py", "make", 3 },
		                                         { "/v/bin/serve", "run", 30 },
		                                         { "/v/bin/serve", "<module>", 90 } };

	static const struct tare_line passed_on[] = {
		{ "/v/lib/python3.11/site-packages/torch/utils/_device.py", "__torch_function__", 122 },
		{ "/v/lib/python3.11/site-packages/sglang/linear.py", "create_weights", 119 },
		{ "/v/lib/python3.11/site-packages/sglang/model.py", "__init__", 71 }
	};
	static const struct tare_line torch_alone[] = { { "/v/lib/python3.11/site-packages/torch/nn/linear.py", "__init__",
		                                              106 },
		                                            { "/usr/lib/python3.11/runpy.py", "_run_code", 86 } };

	check_line(passed_on, 3, "sglang/linear.py:119 in create_weights");
	check_line(torch_alone, 2, "torch/nn/linear.py:106 in __init__");
	check_line(child, 3, "sglang/pool.py:640 in _create");
	check_line(command, 2, "<string>:1 in <module>");
	check_line(script, 3, "vllm/cache.py:7 in make");
	check_line(own, 2, "serve:8 in <module>");
	check_line(function, 3, "serve:30 in run");
}
