/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated NCCL: what ranks send each other arrives, in every collective, type and kind of communicator. */
#include "ranks.h"

#include <dlfcn.h>

#include <stdlib.h>
#include <unistd.h>

#define N     3 /* values of one part */
#define RANKS 64

static void *at(CUdeviceptr address)
{
	return (void *)(uintptr_t)address;
}

/* Value i of part `part` of a rank. */
static int value(int rank, int part, int i)
{
	return 1000 * rank + 10 * part + i;
}

static CUdeviceptr own_values(const struct rank *rank)
{
	int values[RANKS * N + 1] = { 0 }, i;

	for (i = 0; i < rank->ranks_nr * N; i++)
		values[i] = value(rank->rank, i / N, i % N);
	return on_device(values, sizeof(values));
}

/* Results of the last call, and nothing behind them. */
static CUdeviceptr place_for(void)
{
	static const int nothing[RANKS * N + 1];

	return on_device(nothing, sizeof(nothing));
}

static void check_values(CUdeviceptr address, const int *wanted, int count)
{
	int got[RANKS * N + 1], i;

	from_device(got, address, sizeof(got));
	for (i = 0; i < count; i++)
		CHECK_INT(got[i], wanted[i]);
	CHECK_INT(got[count], 0);
}

static void try_reductions(const struct rank *rank)
{
	CUdeviceptr from = own_values(rank), to;
	int got[N];
	int n = rank->ranks_nr, sum[N] = { 0 }, part[N] = { 0 }, zero[N] = { 0 }, root = n - 1, i, r;

	for (i = 0; i < N; i++)
		for (r = 0; r < n; r++) {
			sum[i] += value(r, 0, i);
			part[i] += value(r, rank->rank, i);
		}
	to = place_for();
	FINE(nccl.ncclAllReduce(at(from), at(to), N, NCCL_INT32, NCCL_SUM, rank->comm, NULL));
	check_values(to, sum, N);
	to = place_for();
	FINE(nccl.ncclReduce(at(from), at(to), N, NCCL_INT32, NCCL_SUM, root, rank->comm, NULL));
	check_values(to, rank->rank == root ? sum : zero, N);
	to = place_for();
	FINE(nccl.ncclReduceScatter(at(from), at(to), N, NCCL_INT32, NCCL_SUM, rank->comm, NULL));
	check_values(to, part, N);
	FINE(nccl.ncclAllReduce(at(from), at(from), N, NCCL_INT32, NCCL_SUM, rank->comm, NULL));
	from_device(got, from, sizeof(got));
	CHECK(memcmp(got, sum, sizeof(got)) == 0);
}

static void try_moves(const struct rank *rank)
{
	CUdeviceptr from = own_values(rank), to;
	int n = rank->ranks_nr, root = n / 2, all[RANKS * N], some[RANKS * N], one[N], none[N] = { 0 };
	int i, r;

	for (r = 0; r < n; r++)
		for (i = 0; i < N; i++) {
			all[r * N + i] = value(r, 0, i);
			some[r * N + i] = value(r, rank->rank, i);
		}
	to = place_for();
	FINE(nccl.ncclAllGather(at(from), at(to), N, NCCL_INT32, rank->comm, NULL));
	check_values(to, all, n * N);
	to = place_for();
	FINE(nccl.ncclAlltoAll(at(from), at(to), N, NCCL_INT32, rank->comm, NULL));
	check_values(to, some, n * N);
	to = place_for();
	FINE(nccl.ncclGather(at(from), at(to), N, NCCL_INT32, root, rank->comm, NULL));
	check_values(to, rank->rank == root ? all : none, rank->rank == root ? n * N : N);
	for (i = 0; i < N; i++)
		one[i] = value(root, rank->rank, i);
	to = place_for();
	FINE(nccl.ncclScatter(rank->rank == root ? at(from) : NULL, at(to), N, NCCL_INT32, root, rank->comm, NULL));
	check_values(to, one, N);
	for (i = 0; i < N; i++)
		one[i] = value(root, 0, i);
	to = place_for();
	FINE(nccl.ncclBroadcast(rank->rank == root ? at(from) : NULL, at(to), N, NCCL_INT32, root, rank->comm, NULL));
	check_values(to, one, N);
	FINE(nccl.ncclBcast(at(from), N, NCCL_INT32, root, rank->comm, NULL));
	from_device(all, from, sizeof(one));
	CHECK(memcmp(all, one, sizeof(one)) == 0);
}

/* Each sends to the next, and to itself; nobody has received when all send. */
static void try_messages(const struct rank *rank)
{
	int n = rank->ranks_nr, next = (rank->rank + 1) % n, last = (rank->rank + n - 1) % n, i;
	CUdeviceptr from = own_values(rank), to = place_for();
	int wanted[2 * N];

	FINE(nccl.ncclGroupStart());
	FINE(nccl.ncclRecv(at(to), N, NCCL_INT32, last, rank->comm, NULL));
	FINE(nccl.ncclSend(at(from), N, NCCL_INT32, next, rank->comm, NULL));
	FINE(nccl.ncclRecv(at(to + N * sizeof(int)), N, NCCL_INT32, rank->rank, rank->comm, NULL));
	FINE(nccl.ncclSend(at(from), N, NCCL_INT32, rank->rank, rank->comm, NULL));
	FINE(nccl.ncclGroupEnd());
	for (i = 0; i < N; i++) {
		wanted[i] = value(last, 0, i);
		wanted[N + i] = value(rank->rank, 0, i);
	}
	check_values(to, wanted, 2 * N);
}

static void try_all(struct rank *rank)
{
	int round;

	join_all(rank);
	for (round = 0; round < (rank->ranks_nr > 8 ? 1 : 5); round++) {
		try_reductions(rank);
		try_moves(rank);
		try_messages(rank);
	}
	FINE(nccl.ncclCommFinalize(rank->comm));
	FINE(nccl.ncclCommDestroy(rank->comm));
}

TEST(nccl_carries_for_one_process)
{
	in_processes(1, try_all, NULL);
}

TEST(nccl_carries_for_two_processes)
{
	in_processes(2, try_all, NULL);
}

TEST(nccl_carries_for_four_processes)
{
	in_processes(4, try_all, NULL);
}

TEST(nccl_carries_for_sixty_four_processes)
{
	in_processes(test_rounds(64), try_all, NULL);
}

TEST(nccl_carries_for_threads)
{
	in_threads(4, try_all, NULL);
}

/* ---- types ---- */
/* 2, 3 and 4 of each type, as bits; and what they come to. */
struct numbers {
	int type;
	size_t size;
	uint64_t two, three, four, sum, product;
};

static const struct numbers numbers[] = {
	{ NCCL_INT8, 1, 2, 3, 4, 9, 24 },
	{ NCCL_UINT8, 1, 2, 3, 4, 9, 24 },
	{ NCCL_INT32, 4, 2, 3, 4, 9, 24 },
	{ NCCL_UINT32, 4, 2, 3, 4, 9, 24 },
	{ NCCL_INT64, 8, 2, 3, 4, 9, 24 },
	{ NCCL_UINT64, 8, 2, 3, 4, 9, 24 },
	{ NCCL_FLOAT16, 2, 0x4000, 0x4200, 0x4400, 0x4880, 0x4e00 },
	{ NCCL_FLOAT32, 4, 0x40000000, 0x40400000, 0x40800000, 0x41100000, 0x41c00000 },
	{ NCCL_FLOAT64, 8, 0x4000000000000000, 0x4008000000000000, 0x4010000000000000, 0x4022000000000000,
	  0x4038000000000000 },
	{ NCCL_BFLOAT16, 2, 0x4000, 0x4040, 0x4080, 0x4110, 0x41c0 },
	{ NCCL_FLOAT8E4M3, 1, 0x40, 0x44, 0x48, 0x51, 0x5c },
	{ NCCL_FLOAT8E5M2, 1, 0x40, 0x42, 0x44, 0x48, 0x4e }, /* 9 is between 8 and 10: to even */
};

static uint64_t reduced(const struct rank *rank, const struct numbers *about, uint64_t own, int op)
{
	CUdeviceptr from = on_device(&own, sizeof(own)), to;
	uint64_t got = 0;

	to = on_device(&got, sizeof(got));
	FINE(nccl.ncclAllReduce(at(from), at(to), 1, about->type, op, rank->comm, NULL));
	from_device(&got, to, sizeof(got));
	OK(cu.cuMemFree_v2(from));
	OK(cu.cuMemFree_v2(to));
	return got;
}

static void try_types(struct rank *rank)
{
	size_t i;

	join_all(rank);
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		const struct numbers *about = &numbers[i];
		uint64_t own = rank->rank == 0 ? about->three : rank->rank == 1 ? about->two : about->four;
		int op;

		CHECK_INT(reduced(rank, about, own, NCCL_SUM), about->sum);
		CHECK_INT(reduced(rank, about, own, NCCL_PROD), about->product);
		CHECK_INT(reduced(rank, about, own, NCCL_MAX), about->four);
		CHECK_INT(reduced(rank, about, own, NCCL_MIN), about->two);
		CHECK_INT(reduced(rank, about, own, NCCL_AVG), about->three);
		/* 3 × 1 of two ranks and 3 × 0 … is what each scales by itself: 2 × 4 + 3 × 2 … */
		FINE(nccl.ncclRedOpCreatePreMulSum(&op, (void *)&own, about->type, 1, rank->comm));
		CHECK_INT(reduced(rank, about, rank->rank == 2 ? 0 : own, op) != 0, 1);
		FINE(nccl.ncclRedOpDestroy(op, rank->comm));
		CHECK_INT(nccl.ncclRedOpDestroy(op, rank->comm), NCCL_INVALID_ARGUMENT);
	}
	FINE(nccl.ncclCommDestroy(rank->comm));
}

TEST(nccl_reduces_every_type)
{
	in_processes(3, try_types, NULL);
}

static void try_scales(struct rank *rank)
{
	float own = (float)rank->rank + 1, scale = 0.5f, got;
	CUdeviceptr from, to, factor;
	int op, on_card;

	join_all(rank);
	from = on_device(&own, sizeof(own));
	to = on_device(&own, sizeof(own));
	factor = on_device(&scale, sizeof(scale));
	FINE(nccl.ncclRedOpCreatePreMulSum(&op, &scale, NCCL_FLOAT32, 1, rank->comm));
	FINE(nccl.ncclRedOpCreatePreMulSum(&on_card, at(factor), NCCL_FLOAT32, 0, rank->comm));
	FINE(nccl.ncclAllReduce(at(from), at(to), 1, NCCL_FLOAT32, op, rank->comm, NULL));
	from_device(&got, to, sizeof(got));
	CHECK(got == 1.5f);
	FINE(nccl.ncclAllReduce(at(from), at(to), 1, NCCL_FLOAT32, on_card, rank->comm, NULL));
	from_device(&got, to, sizeof(got));
	CHECK(got == 1.5f);
	CHECK_INT(nccl.ncclAllReduce(at(from), at(to), 1, NCCL_INT32, op, rank->comm, NULL), NCCL_INVALID_ARGUMENT);
}

TEST(nccl_scales_before_it_adds)
{
	in_processes(2, try_scales, NULL);
}

/* ---- what a kernel would have computed (t_answers.c) ---- */
static int (*is_known)(uint64_t address, uint64_t bytes);
static unsigned told;

static void listen(uint64_t bytes)
{
	(void)bytes;
	told++;
}

static void try_computed(struct rank *rank)
{
	void (*start)(void (*read)(uint64_t bytes));
	CUdeviceptr computed, to, from;
	float got = 9;

	join_all(rank);
	to = place_for();
	from = own_values(rank);
	is_known = (int (*)(uint64_t, uint64_t))dlsym(cu.library, "tareSimIsKnown");
	start = (void (*)(void (*)(uint64_t)))dlsym(cu.library, "tareSimListen");
	start(listen);
	OK(cu.cuMemAlloc_v2(&computed, 4096));
	FINE(nccl.ncclAllReduce(at(from), at(to), 1, NCCL_FLOAT32, NCCL_SUM, rank->comm, NULL));
	CHECK_INT(is_known(to, 4), 1);
	FINE(nccl.ncclAllReduce(at(computed), at(to), 1, NCCL_FLOAT32, NCCL_SUM, rank->comm, NULL));
	CHECK_INT(is_known(to, 4), 0);
	CHECK_INT(told, 0); /* the program has not read it yet */
	OK(cu.cuMemcpyDtoH_v2(&got, to, 4));
	CHECK(got == 1); /* the answer, not the sum of the ranks' */
	CHECK_INT(told, 1);
}

TEST(nccl_brings_what_is_computed_as_such)
{
	setenv("TARE_SIM_ANSWERS", "ones", 1);
	in_processes(2, try_computed, NULL);
}

/* ---- groups ---- */
TEST(nccl_one_thread_drives_many_cards)
{
	struct nccl_comm *comms[4];
	CUdeviceptr from[4], to[4];
	int i, k, got[4];

	machine_of(4);
	take_card(0);
	FINE(nccl.ncclCommInitAll(comms, 4, NULL));
	for (i = 0; i < 4; i++) {
		take_card(i);
		k = i + 1;
		from[i] = on_device(&k, sizeof(k));
		to[i] = on_device(got, sizeof(got));
	}
	FINE(nccl.ncclGroupStart());
	for (i = 0; i < 4; i++) {
		FINE(nccl.ncclAllReduce(at(from[i]), at(from[i]), 1, NCCL_INT32, NCCL_SUM, comms[i], NULL));
		FINE(nccl.ncclAllGather(at(from[i]), at(to[i]), 1, NCCL_INT32, comms[i], NULL));
	}
	FINE(nccl.ncclGroupEnd());
	for (i = 0; i < 4; i++) {
		from_device(got, to[i], sizeof(got));
		for (k = 0; k < 4; k++)
			CHECK_INT(got[k], 10);
		FINE(nccl.ncclCommCuDevice(comms[i], &k));
		CHECK_INT(k, i);
		FINE(nccl.ncclCommDestroy(comms[i]));
	}
}

/* More than the room between two ranks holds, both ways at once. */
static void try_many(struct rank *rank)
{
	enum { COUNT = 12, SIZE = 700000 };
	unsigned char *bytes = malloc(SIZE);
	CUdeviceptr from, to;
	int i, other = 1 - rank->rank;

	join_all(rank);
	memset(bytes, 'a' + rank->rank, SIZE);
	from = on_device(bytes, SIZE);
	to = on_device(bytes, SIZE);
	FINE(nccl.ncclGroupStart());
	for (i = 0; i < COUNT; i++)
		FINE(nccl.ncclSend(at(from), SIZE, NCCL_INT8, other, rank->comm, NULL));
	for (i = 0; i < COUNT; i++)
		FINE(nccl.ncclRecv(at(to), SIZE, NCCL_INT8, other, rank->comm, NULL));
	FINE(nccl.ncclGroupEnd());
	from_device(bytes, to, SIZE);
	for (i = 0; i < SIZE; i++)
		CHECK_INT(bytes[i], 'a' + other);
	FINE(nccl.ncclCommDestroy(rank->comm));
}

TEST(nccl_messages_that_fill_the_room)
{
	in_processes(2, try_many, NULL);
}

/* ---- communicators out of others ---- */
static int sum_of_ones(struct nccl_comm *comm)
{
	int one = 1;
	CUdeviceptr memory = on_device(&one, sizeof(one));

	FINE(nccl.ncclAllReduce(at(memory), at(memory), 1, NCCL_INT32, NCCL_SUM, comm, NULL));
	from_device(&one, memory, sizeof(one));
	return one;
}

static void try_split(struct rank *rank)
{
	struct nccl_comm *child = NULL;
	int place;

	join_all(rank);
	/* Even and odd ranks, in the order from last to first; the last rank is in none. */
	FINE(nccl.ncclCommSplit(rank->comm, rank->rank == 4 ? -1 : rank->rank % 2, -rank->rank, &child, NULL));
	CHECK_INT(child != NULL, rank->rank != 4);
	if (child) {
		CHECK_INT(sum_of_ones(child), 2);
		FINE(nccl.ncclCommUserRank(child, &place));
		CHECK_INT(place, rank->rank < 2);
		FINE(nccl.ncclCommDestroy(child));
	}
	CHECK_INT(sum_of_ones(rank->comm), 5);
	FINE(nccl.ncclCommDestroy(rank->comm));
}

TEST(nccl_splits)
{
	in_processes(5, try_split, NULL);
}

static void try_shrink_and_grow(struct rank *rank)
{
	int first_out[] = { 1 }, place;
	struct nccl_comm *small, *large;
	struct nccl_id id;

	join_all(rank);
	memset(&id, 0, sizeof(id));
	memset(id.bytes, 7, 8);
	if (rank->rank != 1) {
		FINE(nccl.ncclCommShrink(rank->comm, first_out, 1, &small, NULL, 0));
		FINE(nccl.ncclCommUserRank(small, &place));
		CHECK_INT(place, rank->rank ? rank->rank - 1 : 0);
		CHECK_INT(sum_of_ones(small), 3);
		FINE(nccl.ncclCommGrow(small, 4, rank->rank == 2 ? &id : NULL, -1, &large, NULL));
	} else {
		FINE(nccl.ncclCommGrow(NULL, 4, &id, 3, &large, NULL));
	}
	CHECK_INT(sum_of_ones(large), 4);
	FINE(nccl.ncclCommUserRank(large, &place));
	CHECK_INT(place, rank->rank == 1 ? 3 : rank->rank ? rank->rank - 1 : 0);
	FINE(nccl.ncclCommDestroy(large));
	FINE(nccl.ncclCommDestroy(rank->comm));
}

TEST(nccl_shrinks_and_grows)
{
	in_processes(4, try_shrink_and_grow, NULL);
}

TEST(nccl_of_one_that_does_not_block)
{
	struct nccl_config config = {
		.size = sizeof(config), .magic = NCCL_CONFIG_MAGIC, .version = NCCL_VERSION, .blocking = 0
	};
	struct nccl_id id = machine_of(2);
	struct nccl_comm *comms[2];
	int error;

	take_card(0);
	CHECK_INT(nccl.ncclCommInitRankConfig(&comms[0], 2, id, 0, &config), NCCL_IN_PROGRESS);
	FINE(nccl.ncclCommGetAsyncError(comms[0], &error));
	CHECK_INT(error, NCCL_IN_PROGRESS);
	take_card(1);
	FINE(nccl.ncclCommInitRankScalable(&comms[1], 2, 1, 1, &id, &config));
	FINE(nccl.ncclCommGetAsyncError(comms[0], &error));
	FINE(error);
	FINE(nccl.ncclCommDestroy(comms[0]));
	FINE(nccl.ncclCommDestroy(comms[1]));
}

/* ---- what is not carried ---- */
static void try_large(struct rank *rank)
{
	enum { LARGE = (1 << 20) + 4 };
	CUdeviceptr memory;
	int first = rank->rank + 1;

	join_all(rank);
	OK(cu.cuMemAlloc_v2(&memory, 2 * LARGE));
	OK(cu.cuMemcpyHtoD_v2(memory, &first, sizeof(first)));
	/* Rank 0 makes these and goes on, though nobody else has come to them. */
	if (rank->rank == 1)
		usleep(300000);
	FINE(nccl.ncclAllReduce(at(memory), at(memory), LARGE / 4, NCCL_INT32, NCCL_SUM, rank->comm, NULL));
	FINE(nccl.ncclBroadcast(at(memory), at(memory), LARGE, NCCL_INT8, 0, rank->comm, NULL));
	if (rank->rank == 1)
		FINE(nccl.ncclRecv(at(memory), LARGE, NCCL_INT8, 0, rank->comm, NULL));
	else
		FINE(nccl.ncclSend(at(memory), LARGE, NCCL_INT8, 1, rank->comm, NULL));
	from_device(&first, memory, sizeof(first));
	CHECK_INT(first, rank->rank + 1);
	CHECK_INT(sum_of_ones(rank->comm), 2);
	FINE(nccl.ncclCommDestroy(rank->comm));
}

TEST(nccl_does_not_carry_what_is_large)
{
	in_processes(2, try_large, NULL);
}

static void try_capture(struct rank *rank)
{
	CUdeviceptr memory;
	CUstream stream;
	CUgraph graph;
	size_t nodes = 0;
	int one = 1;

	join_all(rank);
	memory = on_device(&one, sizeof(one));
	OK(cu.cuStreamCreate(&stream, 1));
	OK(cu.cuStreamBeginCapture_v2(stream, 0));
	FINE(nccl.ncclAllReduce(at(memory), at(memory), 1, NCCL_INT32, NCCL_SUM, rank->comm, stream));
	FINE(nccl.ncclSend(at(memory), 1, NCCL_INT32, 1 - rank->rank, rank->comm, stream));
	OK(cu.cuStreamEndCapture(stream, &graph));
	OK(cu.cuGraphGetNodes(graph, NULL, &nodes));
	CHECK_INT(nodes, 2);
	from_device(&one, memory, sizeof(one));
	CHECK_INT(one, 1);
	CHECK_INT(sum_of_ones(rank->comm), 2);
	FINE(nccl.ncclCommDestroy(rank->comm));
}

TEST(nccl_is_a_node_in_a_capture)
{
	in_processes(2, try_capture, NULL);
}

/* ---- ranks that do not run ---- */
/* Two of six run: others answer as they do, in turn; a root that is not there changes nothing. */
static void try_some(struct rank *rank)
{
	int own[6] = { 10 + rank->rank, 20, 30, 40, 50, 60 }, got[6], i;
	struct nccl_comm *half;
	CUdeviceptr from, to;
	uint64_t total;

	setenv("TARE_SIM_RANKS", "2", 1);
	setenv("TARE_SIM_DEVICES", "6", 1); /* the others are on none of the cards */
	rank->ranks_nr = 6;
	join_all(rank);
	from = on_device(own, sizeof(own));
	to = on_device(own, sizeof(own));
	FINE(nccl.ncclAllGather(at(from), at(to), 1, NCCL_INT32, rank->comm, NULL));
	from_device(got, to, sizeof(got));
	for (i = 0; i < 6; i++)
		CHECK_INT(got[i], 10 + i % 2);
	FINE(nccl.ncclAllReduce(at(from), at(to), 1, NCCL_INT32, NCCL_SUM, rank->comm, NULL));
	from_device(got, to, sizeof(got));
	CHECK_INT(got[0], 3 * 10 + 3 * 11);
	FINE(nccl.ncclBroadcast(at(from), at(to), 1, NCCL_INT32, 1, rank->comm, NULL));
	from_device(got, to, sizeof(got));
	CHECK_INT(got[0], 11);
	FINE(nccl.ncclBroadcast(at(from), at(from), 1, NCCL_INT32, 5, rank->comm, NULL));
	from_device(got, from, sizeof(got));
	CHECK_INT(got[0], 10 + rank->rank);
	FINE(nccl.ncclSend(at(from), 1, NCCL_INT32, 3, rank->comm, NULL));
	FINE(nccl.ncclRecv(at(to), 1, NCCL_INT32, 3, rank->comm, NULL));
	/* One alone in its half takes the memory of one that has others. */
	FINE(nccl.ncclCommSplit(rank->comm, rank->rank, 0, &half, NULL));
	CHECK_INT(sum_of_ones(half), 1);
	FINE(nccl.ncclCommMemStats(half, 3, &total));
	CHECK_INT(total, 484ull << 20);
	FINE(nccl.ncclCommDestroy(half));
	FINE(nccl.ncclCommDestroy(rank->comm));
}

TEST(nccl_some_ranks_run_and_others_answer)
{
	in_processes(2, try_some, NULL);
}

/* A communicator that only one of those that run belongs to is there after a while. */
static void try_alone(struct rank *rank)
{
	setenv("TARE_SIM_RANKS", "2", 1);
	if (rank->rank)
		return;
	rank->ranks_nr = 4;
	join_all(rank);
	CHECK_INT(sum_of_ones(rank->comm), 4);
	FINE(nccl.ncclCommDestroy(rank->comm));
}

TEST(nccl_waits_a_while_for_others_that_run)
{
	in_processes(2, try_alone, NULL);
}
