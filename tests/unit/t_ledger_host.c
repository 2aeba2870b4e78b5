/* SPDX-License-Identifier: Apache-2.0 */
/* Rule "host tensors": what PyTorch asked for in the memory of the CPU. */
#include "ledger_world.h"
#include "test.h"

#define BASE  UINT64_C(0x55d000000000)
#define AT(n) (BASE + (n) * (uint64_t)GIB)
#define GIB   (1024 * MIB)

static const struct tare_host_tensors *of(const struct tare_ledger *l, int64_t pid)
{
	for (int i = 0; i < l->host_nr; i++)
		if (l->hosts[i].pid == pid)
			return &l->hosts[i].tensors;
	test_fail(__FILE__, __LINE__, "there is no process %d", (int)pid);
	return NULL;
}

/* 10 MiB that stay, 20 that come and go, then 12; Python frees all of it at the end. */
static struct world *training(void)
{
	struct world *w = world_new();

	world_host_tensor(w, 0, 1 * MS, AT(1), 10 * MIB, 0);
	world_host_tensor(w, 0, 2 * MS, AT(2), 20 * MIB, TARE_TENSOR_GRAD);
	world_host_tensor(w, 0, 3 * MS, AT(2), 0, 0);
	world_host_tensor(w, 0, 4 * MS, AT(3), 12 * MIB, TARE_TENSOR_BACKWARD);
	world_host_tensor(w, 0, 5 * MS, AT(4), 1 * MIB, TARE_TENSOR_MAPPED);
	world_host_tensor(w, 0, 8 * MS, AT(3), 0, TARE_TENSOR_FINALIZING);
	world_host_tensor(w, 0, 9 * MS, AT(1), 0, TARE_TENSOR_FINALIZING);
	world_host_tensor(w, 0, 9 * MS, AT(4), -1 * MIB, TARE_TENSOR_FINALIZING | TARE_TENSOR_MAPPED);
	world_end(w, 0, 10 * MS);
	return w;
}

TEST(host_tensors_without_a_gpu_have_a_peak_and_an_end)
{
	static const char *const peaks[] = { "peak", "peak:host", "peak:tensors" };
	struct world *w = training();
	struct tare_ledger l;

	for (int i = 0; i < 3; i++) {
		l = world_ledger(w, peaks[i]);
		CHECK_INT(l.t_ns, 2 * MS);
		CHECK_INT(of(&l, 431)->bytes, 30 * MIB);
		CHECK_INT(of(&l, 431)->count, 2);
		CHECK_INT(of(&l, 431)->mapped, 0);
		tare_ledger_free(&l);
	}
	l = world_ledger(w, "end");
	CHECK_INT(of(&l, 431)->bytes, 22 * MIB);
	CHECK_INT(of(&l, 431)->count, 2);
	CHECK_INT(of(&l, 431)->most, 30 * MIB);
	CHECK_INT(of(&l, 431)->mapped, 1 * MIB);
	CHECK_INT(of(&l, 431)->mapped_count, 1);
	tare_ledger_free(&l);
	l = world_ledger(w, "3.5ms");
	CHECK_INT(of(&l, 431)->bytes, 10 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

/* What was made before the recording, or while it was paused, goes unseen; so does what is damaged. */
TEST(host_tensors_that_nobody_saw_come_do_not_go)
{
	struct world *w = world_new();
	struct tare_ledger l;

	world_host_tensor(w, 0, 1 * MS, AT(9), 0, 0);
	world_host_tensor(w, 0, 2 * MS, AT(1), 10 * MIB, 0);
	world_host_tensor(w, 0, 3 * MS, AT(8), -7 * MIB, TARE_TENSOR_MAPPED);
	world_host_tensor(w, 0, 4 * MS, AT(2), INT64_MAX, 0);
	world_host_tensor(w, 0, 5 * MS, AT(1), 4 * MIB, 0); /* its end was not seen */
	l = world_ledger(w, "end");
	CHECK_INT(of(&l, 431)->bytes, 4 * MIB);
	CHECK_INT(of(&l, 431)->count, 1);
	CHECK_INT(of(&l, 431)->mapped, 0);
	tare_ledger_free(&l);
	world_free(w);
}

/* A worker ends, or is taken down, before the program does; that is no end. Its blocks go with it. */
TEST(host_tensors_of_a_worker_end_with_it)
{
	struct world *w = world_new();
	int worker = world_process(w, 500, 0, "worker");
	struct tare_ledger l;

	world_host_tensor(w, 0, 1 * MS, AT(1), 10 * MIB, 0);
	world_host_tensor(w, worker, 2 * MS, AT(1), 5 * MIB, 0); /* an address of its own */
	world_host_tensor(w, worker, 3 * MS, AT(2), 6 * MIB, 0);
	world_host_tensor(w, worker, 4 * MS, AT(2), 0, TARE_TENSOR_FINALIZING);
	world_end(w, worker, 5 * MS);
	world_host_tensor(w, 0, 6 * MS, AT(3), 2 * MIB, 0);
	l = world_ledger(w, "end");
	CHECK_INT(of(&l, 431)->bytes, 12 * MIB);
	CHECK_INT(of(&l, 500)->bytes, 0);
	CHECK_INT(of(&l, 500)->most, 11 * MIB);
	tare_ledger_free(&l);
	l = world_ledger(w, "peak:host");
	CHECK_INT(l.t_ns, 3 * MS);
	CHECK_INT(of(&l, 431)->bytes, 10 * MIB);
	CHECK_INT(of(&l, 500)->bytes, 11 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

/* While a process ends, the kernel says nothing of its memory any more. */
TEST(host_memory_of_a_process_that_is_ending_is_what_was_read_last)
{
	struct world *w = world_new();
	struct tare_ledger l;

	world_host(w, 0, 1 * MS, 100 * MIB);
	world_host_tensor(w, 0, 2 * MS, AT(1), 10 * MIB, 0);
	world_host(w, 0, 3 * MS, (int64_t)TARE_NOT_KNOWN);
	l = world_ledger(w, "end");
	CHECK_INT(l.hosts[0].rss, 101 * MIB);
	CHECK_INT(l.hosts[0].peak_rss, 100 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(host_memory_that_was_never_read_is_not_known)
{
	static const int64_t readings[] = { (int64_t)TARE_NOT_KNOWN, -3, INT64_MAX };

	for (size_t i = 0; i < sizeof(readings) / sizeof(readings[0]); i++) {
		struct world *w = world_new();
		struct tare_ledger l;

		world_host_tensor(w, 0, 1 * MS, AT(1), 10 * MIB, 0);
		world_host(w, 0, 2 * MS, readings[i]);
		l = world_ledger(w, "end");
		CHECK(l.hosts[0].rss == TARE_NOT_KNOWN);
		tare_ledger_free(&l);
		world_free(w);
	}
}

/* With a device both are shown at the device's peak, and the device at the host's. */
TEST(host_tensors_and_a_device_are_shown_at_one_moment)
{
	struct world *w = world_new();
	struct tare_ledger l;

	CALL(w, .class = TARE_CLASS_CONTEXT, .effect = TARE_EFFECT_NEW, .begin = 1 * MS, .end = 2 * MS, .handle = 0xc0,
	     .context = 0xc0, .flags = TARE_EVENT_PRIMARY, .weigh = true, .before = 100 * MIB, .after = 600 * MIB);
	world_host_tensor(w, 0, 3 * MS, AT(1), 50 * MIB, 0);
	world_host_tensor(w, 0, 4 * MS, AT(1), 0, 0);
	CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = 5 * MS, .end = 6 * MS,
	     .handle = 0x7f0000000000, .context = 0xc0, .asked = 20 * MIB, .granted = 20 * MIB, .weigh = true,
	     .before = 600 * MIB, .after = 620 * MIB, .owner = "libx.so");
	world_host_tensor(w, 0, 7 * MS, AT(2), 5 * MIB, 0);
	world_host_tensor(w, 0, 8 * MS, AT(2), 0, TARE_TENSOR_FINALIZING);
	CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_DEL, .begin = 9 * MS, .end = 10 * MS,
	     .handle = 0x7f0000000000, .context = 0xc0, .weigh = true, .before = 620 * MIB, .after = 600 * MIB);
	l = world_ledger(w, "peak:host");
	CHECK_INT(of(&l, 431)->bytes, 50 * MIB);
	CHECK_INT(l.devices[0].used, 600 * MIB);
	CHECK_INT(l.devices[0].unexplained, 0);
	CHECK_INT(l.t_ns, 3 * MS);
	tare_ledger_free(&l);
	l = world_ledger(w, "peak");
	CHECK_INT(of(&l, 431)->bytes, 0);
	CHECK_INT(l.devices[0].used, 620 * MIB);
	tare_ledger_free(&l);
	l = world_ledger(w, "7.5ms");
	CHECK_INT(of(&l, 431)->bytes, 5 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(host_tensors_that_are_not_there_leave_peak_host_to_the_peak)
{
	struct world *w = world_new();
	struct tare_ledger l;

	CALL(w, .class = TARE_CLASS_CONTEXT, .effect = TARE_EFFECT_NEW, .begin = 1 * MS, .end = 2 * MS, .handle = 0xc0,
	     .context = 0xc0, .flags = TARE_EVENT_PRIMARY, .weigh = true, .before = 100 * MIB, .after = 600 * MIB);
	l = world_ledger(w, "peak:host");
	CHECK_INT(l.devices[0].used, 600 * MIB);
	CHECK(world_has_note(&l, "no tensor of the CPU was recorded"));
	CHECK(!of(&l, 431)->is_known);
	tare_ledger_free(&l);
	world_free(w);
}

/* What is asked for at an instant is what there was then, whatever ends behind it. */
TEST(host_tensors_of_a_process_that_ends_are_there_before)
{
	struct world *w = world_new();
	int worker = world_process(w, 500, 0, "worker");
	struct tare_ledger l;

	world_host_tensor(w, worker, 1 * MS, AT(1), 5 * MIB, 0);
	world_end(w, worker, 3 * MS);
	l = world_ledger(w, "2ms");
	CHECK_INT(of(&l, 500)->bytes, 5 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

/* A stop is the end, whatever Python does later. */
TEST(host_tensors_end_where_a_recording_is_stopped)
{
	struct world *w = world_new();
	struct tare_ledger l;

	world_host_tensor(w, 0, 1 * MS, AT(1), 10 * MIB, 0);
	world_control(w, 2 * MS, TARE_ACT_STOP, 1);
	world_end(w, 0, 4 * MS);
	l = world_ledger(w, "end");
	CHECK_INT(of(&l, 431)->bytes, 10 * MIB);
	CHECK_INT(l.t_ns, 2 * MS);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(the_most_that_was_resident_is_what_the_process_says_at_its_end)
{
	static const uint64_t said[] = { 90 * (uint64_t)MIB, 50 * (uint64_t)MIB, 0, TARE_NOT_KNOWN };
	static const uint64_t wanted[] = { 90 * (uint64_t)MIB, 60 * (uint64_t)MIB, 60 * (uint64_t)MIB, 60 * (uint64_t)MIB };

	for (int i = 0; i < 4; i++) {
		struct world *w = world_new();
		struct tare_ledger l;

		world_host_tensor(w, 0, 1 * MS, AT(1), 10 * MIB, 0);
		world_host(w, 0, 2 * MS, 60 * MIB);
		world_host_tensor(w, 0, 3 * MS, AT(2), 30 * MIB, 0);
		world_end_with(w, 0, 4 * MS, said[i]);
		l = world_ledger(w, "end");
		CHECK_INT(l.host_nr, 1);
		CHECK_INT(l.hosts[0].peak_rss, wanted[i]);
		tare_ledger_free(&l);
		world_free(w);
	}
}

TEST(the_most_that_was_resident_is_known_of_a_process_that_nobody_read)
{
	struct world *w = world_new();
	struct tare_ledger l;

	world_host_tensor(w, 0, 1 * MS, AT(1), 10 * MIB, 0);
	world_end_with(w, 0, 4 * MS, 90 * (uint64_t)MIB);
	l = world_ledger(w, "end");
	CHECK_INT(l.host_nr, 1);
	CHECK_INT(l.hosts[0].peak_rss, 90 * (uint64_t)MIB);
	CHECK_INT(l.hosts[0].rss, TARE_NOT_KNOWN);
	CHECK_INT(l.hosts[0].swap, TARE_NOT_KNOWN);
	tare_ledger_free(&l);
	world_free(w);
}

/* Readings come when Python has taken the program down; what was resident at its end is not known, the most there was is. */
TEST(the_most_that_was_resident_is_the_same_at_every_instant)
{
	static const char *const instants[] = { "0.5ms", "1.5ms", "2.5ms", "3.5ms", "end", "peak", "peak:host" };

	for (size_t i = 0; i < sizeof(instants) / sizeof(instants[0]); i++) {
		struct world *w = world_new();
		struct tare_ledger l;

		world_host_tensor(w, 0, 1 * MS, AT(1), 10 * MIB, 0);
		world_host_tensor(w, 0, 2 * MS, AT(1), 0, TARE_TENSOR_FINALIZING);
		world_host(w, 0, 3 * MS, 60 * MIB);
		world_end_with(w, 0, 4 * MS, 90 * (uint64_t)MIB);
		l = world_ledger(w, instants[i]);
		CHECK_INT(l.host_nr, 1);
		CHECK_INT(l.hosts[0].peak_rss, 90 * (uint64_t)MIB);
		CHECK_INT(l.hosts[0].peak_file, 1 * (uint64_t)MIB);
		CHECK((l.hosts[0].rss == TARE_NOT_KNOWN) == (i != 3));
		tare_ledger_free(&l);
		world_free(w);
	}
}
