/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated NCCL on bad days: nothing hangs, and each error says what was wrong; and what it takes of a card. */
#include "ranks.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *at(CUdeviceptr address)
{
	return (void *)(uintptr_t)address;
}

static CUdeviceptr some(void)
{
	static const int zeros[1024];

	return on_device(zeros, sizeof(zeros));
}

static int reduce(const struct rank *rank, size_t count, int type, int op)
{
	CUdeviceptr memory = some();

	return nccl.ncclAllReduce(at(memory), at(memory), count, type, op, rank->comm, NULL);
}

/* ---- arguments ---- */
TEST(nccl_refuses_wrong_arguments)
{
	struct nccl_id id = machine_of(1);
	struct nccl_config config = { .size = sizeof(config) };
	struct rank rank = { 0, 1, id, NULL, NULL };
	CUdeviceptr memory;
	struct nccl_comm *comm;
	int cards[] = { 0, 0 };

	take_card(0);
	CHECK_INT(nccl.ncclCommInitRank(&comm, 2, id, 2), NCCL_INVALID_ARGUMENT);
	CHECK_HAS(nccl.ncclGetLastError(NULL), "rank 2 of 2 is none");
	CHECK_INT(nccl.ncclCommInitRank(&comm, 0, id, 0), NCCL_INVALID_ARGUMENT);
	CHECK_INT(nccl.ncclCommInitRank(NULL, 1, id, 0), NCCL_INVALID_ARGUMENT);
	CHECK_INT(nccl.ncclCommInitRankConfig(&comm, 1, id, 0, &config), NCCL_INVALID_ARGUMENT);
	CHECK_HAS(nccl.ncclGetLastError(NULL), "NCCL_CONFIG_INITIALIZER");
	CHECK_INT(nccl.ncclCommInitAll(&comm, 2, cards), NCCL_INVALID_USAGE);
	CHECK_INT(nccl.ncclGroupEnd(), NCCL_INVALID_USAGE);
	join_all(&rank);
	memory = some();
	CHECK_INT(reduce(&rank, 1, 12, NCCL_SUM), NCCL_INVALID_ARGUMENT);
	CHECK_INT(reduce(&rank, 1, NCCL_INT8, 5), NCCL_INVALID_ARGUMENT);
	CHECK_INT(reduce(&rank, SIZE_MAX, NCCL_INT8, NCCL_SUM), NCCL_INVALID_ARGUMENT);
	CHECK_INT(nccl.ncclBcast(at(memory), 1, NCCL_INT8, 1, rank.comm, NULL), NCCL_INVALID_ARGUMENT);
	CHECK_HAS(nccl.ncclGetLastError(NULL), "rank 1 is none of a communicator of 1");
	CHECK_INT(nccl.ncclBcast(NULL, 1, NCCL_INT8, 0, rank.comm, NULL), NCCL_INVALID_ARGUMENT);
	CHECK_INT(nccl.ncclAllReduce(at(memory), at(memory), 1, 0, 0, NULL, NULL), NCCL_INVALID_ARGUMENT);
	CHECK_INT(nccl.ncclSignal(0, 0, 0, 0, rank.comm, NULL), NCCL_INVALID_USAGE);
	CHECK_HAS(nccl.ncclGetLastError(NULL), "ncclSignal is not simulated");
	/* One error is the group's, and nothing of the group happens. */
	FINE(nccl.ncclGroupStart());
	CHECK_INT(reduce(&rank, 1, 12, NCCL_SUM), NCCL_INVALID_ARGUMENT);
	CHECK_INT(nccl.ncclGroupEnd(), NCCL_INVALID_ARGUMENT);
	/* None of that harmed it; count 0 is nothing. */
	FINE(nccl.ncclBcast(NULL, 0, NCCL_INT8, 0, rank.comm, NULL));
	FINE(reduce(&rank, 1, NCCL_INT8, NCCL_SUM));
	CHECK_STR(nccl.ncclGetErrorString(0), "no error");
	FINE(nccl.ncclCommDestroy(rank.comm));
}

/* ---- ranks that do not agree ---- */
static void differ_in_kind(struct rank *rank)
{
	CUdeviceptr memory = 0;
	int result;

	join_all(rank);
	memory = some();
	result = rank->rank ? reduce(rank, 1, NCCL_INT32, NCCL_SUM)
	                    : nccl.ncclAllGather(at(memory), at(memory), 1, NCCL_INT32, rank->comm, NULL);
	CHECK_INT(result, NCCL_INVALID_USAGE);
	CHECK_HAS(nccl.ncclGetLastError(NULL), rank->rank ? "calls ncclAllReduce" : "calls ncclAllGather");
	CHECK_HAS(nccl.ncclGetLastError(NULL), "the same order");
	/* Nothing can be done with it any more. */
	CHECK_INT(reduce(rank, 1, NCCL_INT32, NCCL_SUM), NCCL_INVALID_USAGE);
	FINE(nccl.ncclCommAbort(rank->comm));
}

static void differ_in_count(struct rank *rank)
{
	join_all(rank);
	CHECK_INT(reduce(rank, 1 + (size_t)rank->rank, NCCL_INT32, NCCL_SUM), NCCL_INVALID_USAGE);
	CHECK_HAS(nccl.ncclGetLastError(NULL), "bytes");
}

static void differ_in_operator(struct rank *rank)
{
	join_all(rank);
	CHECK_INT(reduce(rank, 1, NCCL_INT32, rank->rank), NCCL_INVALID_USAGE);
	CHECK_HAS(nccl.ncclGetLastError(NULL), "operator");
}

static void differ_in_message(struct rank *rank)
{
	CUdeviceptr memory;

	join_all(rank);
	memory = some();
	if (rank->rank == 0) {
		FINE(nccl.ncclSend(at(memory), 3, NCCL_INT32, 1, rank->comm, NULL));
		return;
	}
	CHECK_INT(nccl.ncclRecv(at(memory), 4, NCCL_INT32, 0, rank->comm, NULL), NCCL_INVALID_USAGE);
	CHECK_HAS(nccl.ncclGetLastError(NULL), "expects 16 bytes of rank 0");
}

static void differ_in_ranks(struct rank *rank)
{
	take_card(rank->rank);
	setenv("TARE_SIM_NCCL_WAIT", "1", 1);
	if (rank->rank)
		usleep(300000);
	CHECK_INT(nccl.ncclCommInitRank(&rank->comm, 2 + rank->rank, rank->id, rank->rank),
	          rank->rank ? NCCL_INVALID_USAGE : NCCL_REMOTE_ERROR);
	CHECK_HAS(nccl.ncclGetLastError(NULL),
	          rank->rank ? "give all of its ranks one number" : "for rank 1, which has not come");
	if (rank->rank == 0)
		FINE(nccl.ncclCommAbort(rank->comm));
}

static void be_twice(struct rank *rank)
{
	take_card(rank->rank);
	setenv("TARE_SIM_NCCL_WAIT", "1", 1);
	if (rank->rank)
		usleep(300000);
	CHECK_INT(nccl.ncclCommInitRank(&rank->comm, 2, rank->id, 0), rank->rank ? NCCL_INVALID_USAGE : NCCL_REMOTE_ERROR);
	if (rank->rank)
		CHECK_HAS(nccl.ncclGetLastError(NULL), "rank 0 is twice");
	else
		FINE(nccl.ncclCommAbort(rank->comm));
}

static void share_a_card(struct rank *rank)
{
	take_card(0);
	CHECK_INT(nccl.ncclCommInitRank(&rank->comm, 2, rank->id, rank->rank), NCCL_INVALID_USAGE);
	CHECK_HAS(nccl.ncclGetLastError(NULL), "Duplicate GPU detected");
}

TEST(nccl_tells_ranks_that_differ)
{
	static void (*const worlds[])(struct rank *) = { differ_in_kind,    differ_in_count, differ_in_operator,
		                                             differ_in_message, differ_in_ranks, be_twice,
		                                             share_a_card };
	const char *only = getenv("ONLY_WORLD");
	size_t i;

	for (i = only ? (size_t)atoi(only) : 0; i < sizeof(worlds) / sizeof(worlds[0]); i++) {
		pid_t child = fork();
		int status;

		if (child == 0) {
			in_processes(2, worlds[i], NULL);
			exit(0);
		}
		CHECK_INT(waitpid(child, &status, 0), child);
		if (status)
			test_fail(__FILE__, __LINE__, "world %zu failed", i);
	}
}

/* ---- ranks that are gone ---- */
static void lose_one(struct rank *rank)
{
	join_all(rank);
	CHECK_INT(reduce(rank, 1, NCCL_INT32, NCCL_SUM), 0);
	if (rank->rank == 1)
		raise(SIGKILL);
	CHECK_INT(reduce(rank, 1, NCCL_INT32, NCCL_SUM), NCCL_REMOTE_ERROR);
	CHECK_HAS(nccl.ncclGetLastError(NULL), "rank 1 (pid ");
	CHECK_HAS(nccl.ncclGetLastError(NULL), "has ended");
	FINE(nccl.ncclCommAbort(rank->comm));
}

TEST(nccl_tells_of_a_killed_rank)
{
	int pids[3], status, i;

	start_processes(3, lose_one, NULL, pids);
	for (i = 0; i < 3; i++) {
		if (i == 1)
			continue; /* a zombie until the others have seen it */
		CHECK_INT(waitpid(pids[i], &status, 0), pids[i]);
		CHECK_INT(status, 0);
	}
	CHECK_INT(waitpid(pids[1], &status, 0), pids[1]);
	CHECK(WIFSIGNALED(status));
}

static void leave_early(struct rank *rank)
{
	CUdeviceptr memory;

	join_all(rank);
	memory = some();
	if (rank->rank == 1) {
		FINE(nccl.ncclSend(at(memory), 1, NCCL_INT8, 0, rank->comm, NULL));
		FINE(nccl.ncclCommDestroy(rank->comm));
		return;
	}
	FINE(nccl.ncclRecv(at(memory), 1, NCCL_INT8, 1, rank->comm, NULL));
	CHECK_INT(nccl.ncclRecv(at(memory), 1, NCCL_INT8, 1, rank->comm, NULL), NCCL_REMOTE_ERROR);
	CHECK_HAS(nccl.ncclGetLastError(NULL), "rank 1 has destroyed its communicator");
}

TEST(nccl_tells_of_a_rank_that_left)
{
	in_processes(2, leave_early, NULL);
}

static void never_come(struct rank *rank)
{
	join_all(rank);
	setenv("TARE_SIM_NCCL_WAIT", "1", 1);
	if (rank->rank) {
		sleep(3);
		return;
	}
	CHECK_INT(reduce(rank, 1, NCCL_INT8, NCCL_SUM), NCCL_REMOTE_ERROR);
	CHECK_HAS(nccl.ncclGetLastError(NULL), "has waited 1 s for rank 1");
}

TEST(nccl_waits_no_longer_than_told)
{
	in_processes(2, never_come, NULL);
}

/* ---- another thread ends it ---- */
static void *abort_later(void *comm)
{
	usleep(200000);
	FINE(nccl.ncclCommAbort(comm));
	return NULL;
}

static void abort_one(struct rank *rank)
{
	pthread_t thread;

	join_all(rank);
	if (rank->rank) {
		usleep(800000);
		/* What the other gave before it was aborted is there. */
		FINE(reduce(rank, 1, NCCL_INT8, NCCL_SUM));
		CHECK_INT(reduce(rank, 1, NCCL_INT8, NCCL_SUM), NCCL_REMOTE_ERROR);
		CHECK_HAS(nccl.ncclGetLastError(NULL), "rank 0 has aborted its communicator");
		return;
	}
	CHECK(!pthread_create(&thread, NULL, abort_later, rank->comm));
	CHECK_INT(reduce(rank, 1, NCCL_INT8, NCCL_SUM), NCCL_INTERNAL_ERROR);
	CHECK_HAS(nccl.ncclGetLastError(NULL), "was aborted");
	pthread_join(thread, NULL);
}

static void abort_in_a_message(struct rank *rank)
{
	CUdeviceptr memory;
	pthread_t thread;

	join_all(rank);
	memory = some();
	if (rank->rank)
		return;
	CHECK(!pthread_create(&thread, NULL, abort_later, rank->comm));
	CHECK_INT(nccl.ncclRecv(at(memory), 1, NCCL_INT8, 0, rank->comm, NULL), NCCL_INTERNAL_ERROR);
	pthread_join(thread, NULL);
}

TEST(nccl_collective_is_aborted_by_another_thread)
{
	in_processes(2, abort_one, NULL);
}

TEST(nccl_message_is_aborted_by_another_thread)
{
	in_processes(2, abort_in_a_message, NULL);
}

static void revoke_one(struct rank *rank)
{
	struct nccl_comm *rest;
	int out = 1;

	join_all(rank);
	if (rank->rank == 1)
		return;
	FINE(nccl.ncclCommRevoke(rank->comm, 0));
	CHECK_INT(reduce(rank, 1, NCCL_INT8, NCCL_SUM), NCCL_INTERNAL_ERROR);
	FINE(nccl.ncclCommShrink(rank->comm, &out, 1, &rest, NULL, 1));
	FINE(nccl.ncclCommDestroy(rank->comm));
	FINE(nccl.ncclCommDestroy(rest));
}

TEST(nccl_is_revoked_and_goes_on_with_the_rest)
{
	in_processes(3, revoke_one, NULL);
}

/* ---- memory ---- */
static void try_memory(struct rank *rank)
{
	CUdeviceptr memory;
	uint64_t stats[4];
	void *own;
	int i;

	take_card(rank->rank);
	nvml_open();
	CHECK_INT(nvml.nvmlDeviceGetHandleByIndex_v2((unsigned)rank->rank, &nvml.device), 0);
	memory = some();
	grown();
	FINE(nccl.ncclCommInitRank(&rank->comm, rank->ranks_nr, rank->id, rank->rank));
	/* Code, what code with an assert takes, channels. A card: 394 (docs/measurements/simulated.md). */
	CHECK_INT(grown(), 104 + 90 + 2 * (2 + 4 * 24));
	FINE(reduce(rank, 1, NCCL_INT8, NCCL_SUM));
	CHECK_INT(grown(), 190 + 24 * (10 + 2));
	for (i = 0; i < 4; i++)
		FINE(nccl.ncclCommMemStats(rank->comm, i, &stats[i]));
	/* As measured: 484 MiB in 146 pieces. */
	CHECK_INT(stats[3], 484ull << 20);
	CHECK_INT(stats[0], 288ull << 20);
	CHECK_INT(stats[1], 0);
	CHECK_INT(stats[2], stats[3] - stats[0]);
	FINE(nccl.ncclCommSuspend(rank->comm, 1));
	CHECK_INT(grown(), -288);
	CHECK_INT(reduce(rank, 1, NCCL_INT8, NCCL_SUM), NCCL_INVALID_USAGE);
	FINE(nccl.ncclCommMemStats(rank->comm, 1, &stats[1]));
	CHECK_INT(stats[1], 1);
	FINE(nccl.ncclCommResume(rank->comm));
	CHECK_INT(grown(), 288);
	FINE(reduce(rank, 1, NCCL_INT8, NCCL_SUM));
	/* A message: 32 channels, and a kernel with more local memory. */
	FINE(nccl.ncclGroupStart());
	FINE(nccl.ncclSend(at(memory), 1, NCCL_INT8, 1 - rank->rank, rank->comm, NULL));
	FINE(nccl.ncclRecv(at(memory + 2048), 1, NCCL_INT8, 1 - rank->rank, rank->comm, NULL));
	FINE(nccl.ncclGroupEnd());
	CHECK_INT(grown(), 62 + 32 * (10 + 2));
	FINE(nccl.ncclCommDestroy(rank->comm));
	CHECK_INT(grown(), -484 - 384);
	FINE(nccl.ncclMemAlloc(&own, 3 << 20));
	CHECK_INT(grown(), 4);
	FINE(nccl.ncclMemFree(own));
	CHECK_INT(grown(), -4);
	CHECK_INT(nccl.ncclMemFree(own), NCCL_INVALID_ARGUMENT);
}

TEST(nccl_takes_memory_by_its_table)
{
	in_processes(2, try_memory, NULL);
}

static void try_settings(struct rank *rank)
{
	uint64_t total;

	setenv("NCCL_MAX_NCHANNELS", "2", 1);
	setenv("NCCL_BUFFSIZE", "8388608", 1);
	join_all(rank);
	FINE(reduce(rank, 1, NCCL_INT8, NCCL_SUM));
	FINE(nccl.ncclCommMemStats(rank->comm, 3, &total));
	CHECK_INT(total, (2 * (2 + 3 * 2) + 2 * (14 + 2)) << 20);
	FINE(nccl.ncclCommDestroy(rank->comm));
}

TEST(nccl_takes_memory_by_its_settings)
{
	in_processes(2, try_settings, NULL);
}

/* As tests/gpu/mapping.sh measured: all channels that there may be, and nothing for a collective. */
static void try_alone(struct rank *rank)
{
	uint64_t total;

	join_all(rank);
	FINE(reduce(rank, 1, NCCL_INT8, NCCL_SUM));
	FINE(nccl.ncclCommMemStats(rank->comm, 3, &total));
	CHECK_INT(total, 388ull << 20);
	FINE(nccl.ncclCommDestroy(rank->comm));
	setenv("NCCL_MAX_NCHANNELS", "4", 1);
	join_all(rank);
	FINE(nccl.ncclCommMemStats(rank->comm, 3, &total));
	CHECK_INT(total, 28ull << 20);
	FINE(nccl.ncclCommDestroy(rank->comm));
}

TEST(nccl_of_one_rank_takes_all_channels)
{
	in_processes(1, try_alone, NULL);
}
